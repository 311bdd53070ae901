// kind: ok
// result: {"stolen":0,"later":1,"map":{"k":1}}
let stolen = 0;
Object.defineProperty(Array.prototype, 0, {
  set() {
    stolen++;
  },
  configurable: true,
});
export default { get stolen() { return stolen; }, later: Promise.resolve(1), map: new Map([["k", 1]]) };
