// kind: ok
export default globalThis;
