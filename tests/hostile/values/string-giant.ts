// kind: output
export default "x".repeat(2 ** 29 - 24);
