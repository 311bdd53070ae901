// kind: memory
const all: ArrayBuffer[] = [];
for (;;) {
  const buffer = new ArrayBuffer(2 ** 20, { maxByteLength: 2 ** 21 });
  new Uint8Array(buffer).fill(1);
  all.push(buffer);
}
