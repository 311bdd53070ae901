// kind: ok
// result: [false,"undefined","undefined",false]
const odd = tools as never as Record<PropertyKey, Record<PropertyKey, unknown>>;
const probes = ["__proto__", "constructor", "prototype", "", "a:b", "\ud800", "x".repeat(1e5)];
for (const server of probes) {
  for (const tool of probes) {
    const call = odd[server]?.[tool];
    const tried = async () => await (call as () => Promise<unknown>)();
    if (typeof call === "function") await tried().catch(() => 0);
  }
}
let set = true;
try {
  odd.demo = {} as never;
} catch {
  set = false;
}
export default [set, typeof odd[Symbol.iterator], typeof odd.then, Reflect.defineProperty(odd, "x", { value: 1 })];
