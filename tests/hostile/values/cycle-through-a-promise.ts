// kind: ok|output|runtime
const a: Record<string, unknown> = {};
a.later = Promise.resolve(a);
export default a;
