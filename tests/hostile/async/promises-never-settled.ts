// kind: memory
const all = [];
for (;;) all.push(new Promise(() => {}));
