// kind: memory
const all = [];
for (;;) all.push(new Uint8Array(48));
