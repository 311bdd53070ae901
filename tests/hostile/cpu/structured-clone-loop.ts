// kind: cpu
const data = Array.from({ length: 1e4 }, (_, i) => new Map([[i, { i }]]));
for (;;) structuredClone(data);
