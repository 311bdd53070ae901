// kind: ok
const strange = (length: unknown) => new Proxy([1], { get: (_target, key) => (key === "length" ? length : undefined) });
export default [strange(-1), strange(NaN), strange("2"), strange({ valueOf: () => 1 }), strange(null)];
