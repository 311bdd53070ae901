// kind: memory
const buffer = new ArrayBuffer(0, { maxByteLength: 2 ** 29 });
const view = new Uint8Array(buffer);
for (let size = 2 ** 20; size <= 2 ** 29; size += 2 ** 20) {
  buffer.resize(size);
  view.fill(1, size - 2 ** 20);
}
buffer.byteLength;
