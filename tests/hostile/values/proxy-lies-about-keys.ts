// kind: runtime
export default new Proxy(Object.freeze({ a: 1 }), { ownKeys: () => ["b", "b"] });
