// kind: ok
// result: 1
const a = 1;
export { a as default };
