// kind: runtime
const error = new Error("x");
error.stack = "Error: x\n    at f (ext:core/mod.js:1:1)\n    at g (/etc/passwd:99999999999999999999:-1)\n    at <\u0000>";
throw error;
