// kind: ok
// result: 6
let refused = 0;
const detached = new Uint8Array(8);
detached.buffer.transfer();
const odd = [new Uint8Array(65537), new Float64Array(8), new DataView(new ArrayBuffer(8)), new ArrayBuffer(8), {}, detached];
for (const value of odd) {
  try {
    crypto.getRandomValues(value as never);
  } catch {
    refused++;
  }
}
export default refused;
