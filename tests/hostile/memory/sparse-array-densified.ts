// kind: memory|cpu
const sparse: number[] = [];
sparse.length = 2 ** 32 - 1;
sparse[2 ** 32 - 2] = 1;
[...sparse].length;
