// kind: memory
const all = [];
for (;;) all.push("x".padEnd(2 ** 24, "ab" + all.length).toUpperCase());
