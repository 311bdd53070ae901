// kind: runtime|memory
const error = new Error("x");
error.name = "N".repeat(2 ** 26);
throw error;
