// kind: ok
Object.setPrototypeOf(globalThis, new Proxy({}, {
  get(_target, key) {
    throw new Error("asked for " + String(key));
  },
  has: () => true,
}));
export default 1;
