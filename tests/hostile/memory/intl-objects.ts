// kind: memory|cpu
const all = [];
for (let i = 0;; i++) all.push(new Intl.NumberFormat("de", { minimumFractionDigits: i % 10 }));
