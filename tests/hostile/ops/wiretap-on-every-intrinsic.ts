// kind: ok
// result: []
// Listens on every method of every intrinsic while the API does its work.
const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
const startsWith = String.prototype.startsWith;
const found = new Set<string>();
const add = Set.prototype.add;
let listening = false;
const look = (value: unknown, path: string, depth = 0) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || depth > 1) return;
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length && i < 200; i++) {
    const own = getOwnPropertyDescriptor(value, keys[i])!;
    if (typeof keys[i] === "string" && apply(startsWith, keys[i], ["op_"])) apply(add, found, [path + "." + (keys[i] as string)]);
    if (keys[i] === "name" && typeof own.value === "string" && apply(startsWith, own.value, ["op_"])) apply(add, found, [path + "=" + own.value]);
  }
};
const tap = (holder: object, path: string) => {
  for (const key of ownKeys(holder)) {
    const own = getOwnPropertyDescriptor(holder, key)!;
    if (typeof own.value !== "function" || !own.configurable || key === "constructor") continue;
    const original = own.value;
    const name = path + "." + String(key);
    own.value = function (this: unknown, ...given: unknown[]) {
      if (listening) {
        listening = false;
        look(this, name);
        for (let i = 0; i < given.length; i++) look(given[i], name);
        listening = true;
      }
      return new.target ? Reflect.construct(original, given) : apply(original, this, given);
    };
    defineProperty(holder, key, own);
  }
};
const names = ["Function", "Object", "Array", "Promise", "Map", "Set", "WeakMap", "WeakSet", "String", "Number", "RegExp", "Error", "Uint8Array", "ArrayBuffer", "Symbol", "Date"];
for (const name of names) {
  const type = (globalThis as never as Record<string, { prototype: object }>)[name];
  tap(type.prototype, name + ".prototype");
  if (name !== "Function") tap(type, name);
}
for (const name of ["Reflect", "JSON", "Math"]) tap((globalThis as never as Record<string, object>)[name], name);
tap(Object.getPrototypeOf([][Symbol.iterator]()), "ArrayIterator");
tap(Object.getPrototypeOf(Uint8Array), "TypedArray");
listening = true;
await callTool("demo:echo", { a: [1, new Map([["k", 1]])] });
await callToolsBatch([{ tool: "demo:echo", args: {} }, { tool: "demo:fail", args: {} }]);
await searchTools("echo");
await describeTool("demo:echo");
await tools.demo.fail({}).catch(() => 0);
console.log({ a: [1] }, new Error("x"), new Map([[1, 2]]));
console.table([{ a: 1 }]);
await new Promise((resolve) => setTimeout(resolve, 1));
structuredClone({ a: new Date() });
new URL("https://example.com/?a=b").searchParams.append("c", "d");
new TextDecoder().decode(new TextEncoder().encode("text"));
crypto.randomUUID();
atob(btoa("text"));
AbortSignal.timeout(1).addEventListener("abort", () => {});
await import("pml");
listening = false;
export default [...found];
