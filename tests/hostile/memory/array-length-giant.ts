// kind: ok
// result: 4294967295
const sparse = [];
sparse.length = 2 ** 32 - 1;
sparse.length;
