// kind: memory
const all: number[][] = [];
for (;;) all.push(new Array(1e5).fill(0.5));
