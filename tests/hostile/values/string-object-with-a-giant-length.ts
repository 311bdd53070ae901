// kind: ok
const odd = new String("abc");
Object.defineProperty(odd, "toJSON", { value: undefined });
Object.defineProperty(odd, Symbol.toPrimitive, { value: () => { throw 1; } });
export default [odd];
