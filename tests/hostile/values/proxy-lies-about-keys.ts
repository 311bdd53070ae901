// kind: runtime|ok
export default new Proxy(Object.freeze({ a: 1 }), { ownKeys: () => ["b", "b"] });
