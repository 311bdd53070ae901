// kind: memory
const all = [];
const text = "\u20ac".repeat(1e5);
for (;;) all.push(new TextEncoder().encode(text));
