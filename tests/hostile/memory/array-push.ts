// kind: memory
const all = [];
for (;;) all.push({ at: all.length });
