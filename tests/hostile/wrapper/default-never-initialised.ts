// kind: runtime
export { a as default };
throw new Error("before");
let a = 1;
