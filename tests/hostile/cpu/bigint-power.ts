// kind: cpu
let n = 3n;
for (;;) n = (n ** 9n) % (2n ** 2_000_000n + 7n);
