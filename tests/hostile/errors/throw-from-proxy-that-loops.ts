// kind: cpu
throw new Proxy(new Error("x"), {
  get() {
    for (;;);
  },
  getPrototypeOf() {
    for (;;);
  },
});
