// kind: output|cpu
export default 7n ** 3_000_000n;
