// kind: ok
const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
const view = new Uint8Array(buffer);
export default [{ toJSON: () => (buffer.resize(2), 1) }, view, new Uint8Array(buffer, 0)];
