// kind: memory
const all = [];
for (;;) all.push(2n ** 1_000_000n + BigInt(all.length));
