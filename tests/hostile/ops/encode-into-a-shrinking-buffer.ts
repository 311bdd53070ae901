// kind: ok
const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
const view = new Uint8Array(buffer);
const text = { toString: () => (buffer.resize(1), "x".repeat(64)) };
new TextEncoder().encodeInto(text as never, view);
new TextEncoder().encodeInto("\ud800".repeat(100), view);
crypto.getRandomValues(view);
export default buffer.byteLength;
