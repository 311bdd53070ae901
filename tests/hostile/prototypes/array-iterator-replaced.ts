// kind: ok
// result: [1,[2],{"x":3}]
const set = new Set([2]);
const map = new Map([["x", 3]]);
Array.prototype[Symbol.iterator] = function* () {
  yield "stolen";
} as never;
const proto = Object.getPrototypeOf(Object.getPrototypeOf(new Map().keys()));
proto.next = () => ({ done: true, value: "stolen" });
await callToolsBatch([{ tool: "demo:echo", args: { a: 1 } }]);
export default [1, set, map];
