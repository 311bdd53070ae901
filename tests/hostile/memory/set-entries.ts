// kind: memory|runtime
const set = new Set();
for (let i = 0;; i++) set.add("entry " + i);
