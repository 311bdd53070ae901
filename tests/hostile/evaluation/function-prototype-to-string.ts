// kind: ok
// result: true
export default Function.prototype.toString.call(callTool).includes("function");
