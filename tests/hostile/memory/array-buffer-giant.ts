// kind: memory
new ArrayBuffer(2 ** 40);
