// kind: ok
// result: []
const names = ["Deno", "__bootstrap", "__infra", "__pml", "__timers", "__core", "core", "primordials", "internals", "ops", "bootstrap", "nodeBootstrap"];
export default names.filter((name) => name in globalThis || Object.hasOwn(globalThis, name));
