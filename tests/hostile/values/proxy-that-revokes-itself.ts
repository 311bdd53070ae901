// kind: runtime
const { proxy, revoke } = Proxy.revocable({ a: 1 }, {
  ownKeys() {
    revoke();
    return ["a"];
  },
});
export default proxy;
