// kind: runtime
let nested: unknown = 1;
for (let i = 0; i < 200_000; i++) nested = { nested };
structuredClone(nested);
