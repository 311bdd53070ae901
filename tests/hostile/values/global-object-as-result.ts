// kind: ok|output|runtime
export default globalThis;
