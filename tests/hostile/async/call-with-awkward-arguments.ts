// kind: ok
// result: [{"a":"[Circular]"},{"__proto__":{"leftover":1}},{"n":null,"d":null}]
const cycle: Record<string, unknown> = {};
cycle.a = cycle;
const inputs = [cycle, JSON.parse('{"__proto__":{"leftover":1}}'), { n: NaN, d: new Date(NaN), f() {} }];
const out = [];
for (const input of inputs) out.push((await callTool("demo:echo", input)).result);
export default out;
