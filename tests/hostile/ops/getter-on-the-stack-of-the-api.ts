// kind: ok
// result: ["x"]
const seen: unknown[] = [];
Object.defineProperty(Object.prototype, "stack", { set(value) { seen.push(typeof value, value); }, configurable: true });
const { error } = await callTool("demo:fail", {});
export default [error ? "x" : "none"];
