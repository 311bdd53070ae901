// kind: runtime
const error = new Error("x");
error.stack = "Error: x\n" + "    at f (file:///hostile.ts:1:1)\n".repeat(1e6);
throw error;
