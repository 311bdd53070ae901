// kind: runtime
const proxy: object = new Proxy({}, { getPrototypeOf: () => proxy, get: (_t, key) => (key === "then" ? undefined : proxy) });
console.log(proxy);
export default { proxy };
