// kind: runtime
const buffer = new ArrayBuffer(8);
structuredClone({ get a() { return buffer.transfer(); }, buffer }, { transfer: [buffer] });
