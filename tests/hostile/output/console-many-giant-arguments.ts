// kind: output
console.log(...new Array(1000).fill("y".repeat(1e6)));
