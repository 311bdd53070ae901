// kind: ok
// result: [1,2,3]
const _default = 1, __pml = 2, module = 3, exports = 4, require = 5;
export default [_default, __pml, module];
