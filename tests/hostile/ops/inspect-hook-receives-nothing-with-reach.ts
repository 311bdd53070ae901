// kind: ok
// result: []
const found: string[] = [];
const seen = new Set<unknown>();
const walk = (value: unknown, path: string) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
  seen.add(value);
  if (typeof value === "function" && value.name.startsWith("op_")) found.push(path);
  if (/core|ops|primordials|Deno$/.test(path.split(".").at(-1)!)) found.push(path);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key)!;
    for (const part of [descriptor.value, descriptor.get, descriptor.set]) walk(part, path + "." + String(key));
  }
};
for (const name of ["Deno.customInspect", "Deno.privateCustomInspect", "nodejs.util.inspect.custom"]) {
  const hook = function (this: unknown, ...given: unknown[]) {
    walk(given, name);
    return "hooked";
  };
  console.log({ [Symbol.for(name)]: hook });
  console.dir({ [Symbol.for(name)]: hook }, { depth: 3 });
  console.table([{ [Symbol.for(name)]: hook }]);
}
export default found.filter((path) => !/stylize|constructor|prototype/.test(path));
