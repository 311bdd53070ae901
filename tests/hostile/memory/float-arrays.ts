// kind: memory
const all = [];
for (;;) all.push(new Float64Array(1e5).map(Math.random));
