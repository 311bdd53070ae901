// kind: memory
"x".repeat(2 ** 26).split("").length;
