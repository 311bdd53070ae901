// kind: ok
// result: [null,null,null,0]
export default [NaN, Infinity, -Infinity, -0];
