// kind: ok
// result: {"a":1}
for (const name of Object.getOwnPropertyNames(Object)) {
  if (typeof (Object as never as Record<string, unknown>)[name] !== "function") continue;
  Object.defineProperty(Object, name, { value: () => "stolen", configurable: true });
}
console.log({ a: 1 }, [1], new Error("x"));
export default { a: 1 };
