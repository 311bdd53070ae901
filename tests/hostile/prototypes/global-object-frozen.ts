// kind: ok
// result: 1
Object.freeze(Object.prototype);
Object.freeze(Array.prototype);
Object.freeze(Promise.prototype);
try {
  Object.freeze(globalThis);
} catch {
  // not every host allows it
}
await callTool("demo:echo", {});
export default 1;
