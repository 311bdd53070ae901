// kind: memory
const all = [];
for (;;) all.push(new ArrayBuffer(1e6));
