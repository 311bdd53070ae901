// kind: output
console.log("%s".repeat(2e4), ...new Array(2e4).fill("x".repeat(100)));
