// kind: ok
// result: {"self":"[Circular]","list":["[Circular]"]}
const a: Record<string, unknown> = {};
a.self = a;
a.list = [a];
export default a;
