// kind: ok
const a: Record<string, unknown> = {};
a.later = Promise.resolve(a);
export default a;
