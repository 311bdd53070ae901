// kind: output
export default "\u20ac".repeat(8_000_000);
