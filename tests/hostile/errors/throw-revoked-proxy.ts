// kind: runtime
const { proxy, revoke } = Proxy.revocable(new Error("gone"), {});
revoke();
throw proxy;
