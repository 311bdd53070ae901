// kind: runtime
throw new Proxy({}, {
  get() {
    throw new Error("from the trap");
  },
  has() {
    throw new Error("from the trap");
  },
  getPrototypeOf() {
    throw new Error("from the trap");
  },
});
