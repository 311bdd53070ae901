// kind: ok
// result: {"inside":{"value":1}}
export default { inside: { value: 1, then: (resolve: (n: number) => void) => resolve(2) } };
