// kind: ok
// result: 6
let refused = 0;
const odd: unknown[] = [[{}], [null], ["x"], [new ArrayBuffer(8), 1], { length: 1e9 }, 7];
for (const transfer of odd) {
  try {
    structuredClone({}, { transfer } as never);
  } catch {
    refused++;
  }
}
export default refused;
