// kind: cpu
export default new Proxy({}, {
  ownKeys() {
    for (;;);
  },
});
