// kind: output|memory
export default "\u0001".repeat(16 * 1024 * 1024 - 10);
