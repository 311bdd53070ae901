// kind: output
export default new Proxy([], { get: (_target, key) => (key === "length" ? Infinity : key === "toJSON" ? undefined : 1n) });
