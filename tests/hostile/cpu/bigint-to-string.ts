// kind: cpu
const n = 7n ** 4_000_000n;
for (;;) n.toString(10).length;
