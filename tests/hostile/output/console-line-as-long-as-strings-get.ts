// kind: output|memory|runtime
console.log("x".repeat(2 ** 29 - 100));
