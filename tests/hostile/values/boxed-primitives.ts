// kind: ok
// result: ["s",1,true,"/a/g"]
export default [Object("s"), Object(1), Object(true), /a/g];
