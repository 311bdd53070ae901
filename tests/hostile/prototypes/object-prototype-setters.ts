// kind: ok
// result: [{"a":1,"b":{"c":2}},[]]
const stolen: string[] = [];
for (const key of ["holder", "key", "promise", "ancestors", "depth", "up", "a", "b", "c", "success", "result", "tool", "args"]) {
  Object.defineProperty(Object.prototype, key, {
    set(value) {
      stolen.push(key + typeof value);
    },
  });
}
export default [{ a: 1, b: Promise.resolve({ c: 2 }) }, stolen];
