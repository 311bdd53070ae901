// kind: ok
// result: [1,2]
var globalThis = 1, undefined_ = 2, Object = 3, JSON = 4, Promise = 5, Symbol = 6;
export default [globalThis, undefined_];
