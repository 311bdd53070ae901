// kind: memory
Array.from({ length: 1e9 }, () => 0).length;
