// kind: output|memory
export default new Proxy([], {
  get(_target, key) {
    return key === "length" ? Infinity : key === "toJSON" ? undefined : {};
  },
});
