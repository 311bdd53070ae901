// kind: ok
// result: {"a":1}
Object.assign(Object.prototype, {
  failure: { kind: "x", message: "stolen" },
  value: "stolen",
  get: () => "stolen",
  set: () => {},
  writable: true,
  retryAfterMs: 1,
  leftover: 1,
});
const { result } = await callTool("demo:echo", { a: 1 });
export default { a: result.a };
