// kind: runtime
Promise.reject(new Proxy(new Error("x"), {
  get() {
    throw new Error("from the trap");
  },
}));
export default 1;
