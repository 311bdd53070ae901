// kind: runtime
const buffer = new ArrayBuffer(8);
const view = new Uint8Array(buffer);
buffer.transfer();
console.log(view, buffer);
export default [view, buffer];
