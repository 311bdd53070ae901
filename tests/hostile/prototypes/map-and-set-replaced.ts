// kind: ok
// result: [{"a":1},[2]]
for (const type of [Map, Set, WeakMap, WeakSet]) {
  for (const name of Object.getOwnPropertyNames(type.prototype)) {
    if (name === "constructor") continue;
    Object.defineProperty(type.prototype, name, {
      value: () => {
        throw new Error("replaced " + name);
      },
    });
  }
}
const map = Reflect.construct(Object.getPrototypeOf(new Map()).constructor, []);
console.log(map);
setTimeout(() => {}, 0);
export default [{ a: 1 }, [2]];
