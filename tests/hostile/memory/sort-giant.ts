// kind: memory
"x".repeat(2 ** 28).split("").sort();
