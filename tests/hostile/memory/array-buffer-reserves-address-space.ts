// kind: memory
const all: ArrayBuffer[] = [];
for (;;) all.push(new ArrayBuffer(0, { maxByteLength: 2 ** 40 }));
