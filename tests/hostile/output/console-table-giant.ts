// kind: output|cpu|memory
console.table(Array.from({ length: 50_000 }, (_, i) => ({ i, text: "x".repeat(50) })));
