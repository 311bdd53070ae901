// kind: runtime
const { proxy, revoke } = Proxy.revocable(() => {}, {});
revoke();
export default proxy;
