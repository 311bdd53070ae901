// kind: runtime
Object.defineProperty(ArrayBuffer, Symbol.species, { get: () => Array });
new ArrayBuffer(8).slice(0, 4);
structuredClone(new Uint8Array(8));
export default 1;
