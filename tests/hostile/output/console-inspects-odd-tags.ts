// kind: ok
class Odd {
  get [Symbol.toStringTag]() {
    return "\u0000".repeat(100);
  }
}
Object.defineProperty(Odd, "name", { value: { toString: () => "stolen" } });
console.log(new Odd(), Object.create(new Odd()), Object.create(null, { constructor: { value: 1 } }));
export default 1;
