// kind: memory
const record: Record<string, number> = {};
for (let i = 0;; i++) record["property " + i] = i;
