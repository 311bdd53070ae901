// kind: ok
// result: 0
let worked = 0;
const odd: unknown[][] = [[], [null], [""], ["   "], ["x".repeat(501)], ["x", 0], ["x", 51], ["x", 1.5], ["x", NaN], ["x", 1n], ["x", 1, 2], ["x", 1, -1], ["x", 1, NaN], ["x", "1"], [{ toString: () => "x" }]];
for (const given of odd) {
  await (searchTools as (...given: unknown[]) => Promise<unknown>)(...given).then(() => worked++, () => 0);
}
export default worked;
