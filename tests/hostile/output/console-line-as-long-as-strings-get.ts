// kind: output
console.log("x".repeat(2 ** 29 - 100));
