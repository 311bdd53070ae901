// kind: ok
// result: 5
let fired = 0;
for (const delay of [NaN, -1, Infinity, 2 ** 40, "x"]) {
  await new Promise<void>((resolve) => setTimeout(() => (fired++, resolve()), delay as number));
}
export default fired;
