// kind: ok
// result: "stolen"
Object.defineProperty(Object.prototype, "toJSON", { value: () => "stolen" });
export default { a: 1 };
