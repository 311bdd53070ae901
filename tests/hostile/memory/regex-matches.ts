// kind: memory
const all = [];
const text = "ab".repeat(1e5);
for (;;) all.push([...text.matchAll(/(a)(b)/g)]);
