// kind: ok
// result: {"a":1}
for (const key of ["waiting", "chars", "what", "take", "record", "field", "list"]) {
  Object.defineProperty(Object.prototype, key, { get: () => { throw new Error(key); }, set: () => { throw new Error(key); }, configurable: true });
}
export default { a: 1 };
