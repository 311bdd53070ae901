// kind: ok
// result: [null,null,1]
export default [, , 1];
