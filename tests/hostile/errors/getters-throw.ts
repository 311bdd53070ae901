// kind: runtime
const error = new Error("x");
for (const name of ["name", "message", "stack", "cause", "errors", "constructor"]) {
  Object.defineProperty(error, name, {
    get() {
      throw error;
    },
  });
}
throw error;
