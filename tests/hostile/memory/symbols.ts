// kind: memory
const all = [];
for (let i = 0;; i++) all.push(Symbol.for("symbol number " + i));
