// kind: runtime
"x".repeat(2 ** 30);
