// kind: runtime
const error = new Error("x");
for (const name of ["name", "message", "stack", "cause", "errors", "fileName", "code"]) {
  Object.defineProperty(error, name, { get: () => ({ [name]: Symbol(name), length: 1e9 }) });
}
throw error;
