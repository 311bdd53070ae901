// kind: runtime
Object.defineProperty(Error, "stackTraceLimit", {
  get() {
    for (;;);
  },
});
throw new Error("x");
