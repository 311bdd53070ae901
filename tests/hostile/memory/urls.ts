// kind: memory|cpu
const all = [];
for (let i = 0;; i++) all.push(new URL("https://example.com/" + "path/".repeat(100) + i));
