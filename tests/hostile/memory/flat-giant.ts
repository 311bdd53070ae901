// kind: memory
const row = new Array(1e5).fill(1);
new Array(1e4).fill(row).flat().length;
