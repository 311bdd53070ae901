// kind: runtime
const error = new Error("x");
error.cause = error;
throw error;
