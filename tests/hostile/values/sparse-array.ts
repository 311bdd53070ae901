// kind: output
const sparse: number[] = [];
sparse[2 ** 32 - 2] = 1;
export default sparse;
