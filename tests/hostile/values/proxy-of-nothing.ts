// kind: ok
// result: {}
export default new Proxy({}, {});
