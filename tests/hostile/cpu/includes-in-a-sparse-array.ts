// kind: cpu
const sparse: number[] = [];
sparse.length = 2 ** 32 - 1;
for (;;) sparse.includes(1);
