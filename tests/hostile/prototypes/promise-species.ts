// kind: runtime
Object.defineProperty(Promise, Symbol.species, {
  get() {
    return function () {
      throw new Error("from a species");
    };
  },
});
export default [await callToolsBatch([{ tool: "demo:echo", args: {} }]), Promise.resolve(1)];
