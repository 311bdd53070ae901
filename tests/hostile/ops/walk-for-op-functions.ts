// kind: ok
// result: []
const seen = new Set<unknown>();
const found: string[] = [];
const walk = (value: unknown, path: string) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
  seen.add(value);
  if (typeof value === "function" && /^op_|^async_op/.test(value.name)) found.push(path);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key)!;
    const at = path + "." + String(key);
    for (const part of [descriptor.value, descriptor.get, descriptor.set]) walk(part, at);
  }
  walk(Reflect.getPrototypeOf(value), path + ".__proto__");
};
walk(globalThis, "globalThis");
walk(await import("pml"), "pml");
export default found;
