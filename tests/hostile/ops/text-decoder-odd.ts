// kind: ok
const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
const view = new Uint8Array(buffer, 4);
const decoder = new TextDecoder("utf-16le", { fatal: true });
const name = (work: () => unknown) => {
  try {
    work();
    return true;
  } catch (error) {
    return (error as Error).name;
  }
};
buffer.resize(2);
export default [
  name(() => new TextDecoder().decode(new Uint8Array(0))),
  name(() => new TextDecoder("nonsense")),
  name(() => decoder.decode(view.subarray(0, 1), { stream: false }) || decoder.decode(new Uint8Array(3))),
];
