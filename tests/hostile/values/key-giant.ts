// kind: output|memory
export default { ["x".repeat(2 ** 25)]: 1 };
