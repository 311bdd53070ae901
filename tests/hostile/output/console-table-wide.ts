// kind: output|cpu|memory
const row: Record<string, number> = {};
for (let i = 0; i < 20_000; i++) row["column " + i] = i;
console.table(new Array(100).fill(row));
