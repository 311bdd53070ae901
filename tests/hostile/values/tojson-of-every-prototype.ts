// kind: ok
// result: {"a":[1,"x",true,{"b":null}]}
for (const proto of [Number, String, Boolean, BigInt, Symbol].map((type) => type.prototype)) {
  Object.defineProperty(proto, "toJSON", { value: () => "stolen" });
}
export default { a: [1, "x", true, { b: null }] };
