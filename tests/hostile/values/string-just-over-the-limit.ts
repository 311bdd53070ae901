// kind: output
export default "x".repeat(24_000);
