// kind: memory
const buffer = new ArrayBuffer(8);
const all = [];
for (;;) all.push(new DataView(buffer));
