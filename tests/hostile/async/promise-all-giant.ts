// kind: memory|cpu
await Promise.all(Array.from({ length: 3e6 }, async () => {}));
