// kind: output|memory
export default new Uint8Array(1e7);
