// kind: runtime
throw new Proxy(new Error("x"), {
  get() {
    for (;;);
  },
  getPrototypeOf() {
    for (;;);
  },
});
