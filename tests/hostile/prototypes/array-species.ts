// kind: ok
// result: [1,2]
Object.defineProperty(Array, Symbol.species, {
  get() {
    throw new Error("from a species");
  },
});
export default [1, 2];
