// kind: memory
const set = new Set();
for (let i = 0;; i++) set.add("entry " + i);
