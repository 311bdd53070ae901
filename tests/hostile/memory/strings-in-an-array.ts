// kind: memory
const all = [];
for (let i = 0;; i++) all.push(("text " + i).repeat(100).toUpperCase());
