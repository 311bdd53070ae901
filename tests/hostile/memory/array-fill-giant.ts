// kind: memory
new Array(1e8).fill(0).length;
