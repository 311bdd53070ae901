// kind: runtime
const promise = Promise.resolve(1);
Object.defineProperty(promise, "constructor", {
  get() {
    throw new Error("no constructor");
  },
});
export default { promise };
