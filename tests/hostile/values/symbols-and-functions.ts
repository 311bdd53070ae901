// kind: ok
// result: {"list":[null,null,null]}
export default { [Symbol("k")]: 1, s: Symbol.iterator, f() {}, u: undefined, list: [Symbol(), () => {}, undefined] };
