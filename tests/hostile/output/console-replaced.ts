// kind: ok
// result: 0
let stolen = 0;
for (const name of Object.keys(console)) (console as never as Record<string, unknown>)[name] = () => stolen++;
delete (globalThis as { console?: unknown }).console;
export default stolen;
