// kind: output|cpu|memory
const wide: Record<string, string> = {};
for (let i = 0; i < 1e5; i++) wide["key " + i] = "value";
console.log(wide);
