// kind: ok
// result: {"echo":{"a":1},"stolen":0}
let stolen = 0;
const then = Promise.prototype.then;
Promise.prototype.then = function (...rest) {
  stolen++;
  return then.apply(this, rest);
};
const { result } = await callTool("demo:echo", { a: 1 });
export default { echo: result, get stolen() { return stolen; } };
