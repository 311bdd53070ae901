// kind: output
export default "\u0000".repeat(20_000);
