// kind: ok
// result: {"a":1}
const then = Promise.prototype.then;
Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = function () {
  throw new Error("tampered");
} as never;
const { result } = await callTool("demo:echo", { a: 1 });
Promise.prototype.then = then;
export default result;
