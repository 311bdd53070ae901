// kind: ok
// result: "trapped"
export default { toJSON: new Proxy(() => 1, { apply: () => "trapped" }) };
