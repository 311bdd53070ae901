// kind: output
export default 7n ** 3_000_000n;
