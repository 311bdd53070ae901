// kind: ok
// result: 6
const TypedArray = Object.getPrototypeOf(Uint8Array);
Object.defineProperty(TypedArray, Symbol.species, {
  get: () => function () {
    return new Uint8Array(2 ** 20);
  },
});
new TextDecoder().decode(new TextEncoder().encode("text").subarray(0, 2));
crypto.getRandomValues(new Uint8Array(4));
export default crypto.randomUUID().length / 6;
