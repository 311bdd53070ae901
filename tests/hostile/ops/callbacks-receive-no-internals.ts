// kind: ok
// result: 0
let extra = 0;
const count = function (this: unknown, ...given: unknown[]) {
  if (this !== undefined && this !== globalThis && typeof this !== "number") extra++;
  extra += given.length;
};
setTimeout(count, 0);
await new Promise((resolve) => setTimeout(resolve, 10));
export default extra;
