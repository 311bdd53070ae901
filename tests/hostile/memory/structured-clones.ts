// kind: memory
const all = [];
const data = { rows: Array.from({ length: 1000 }, (_, i) => ({ i })) };
for (;;) all.push(structuredClone(data));
