// kind: runtime
Object.defineProperty(Promise.prototype, "constructor", {
  get() {
    throw new Error("from a getter");
  },
});
export default { later: Promise.resolve(1) };
