// kind: memory
btoa("x".repeat(2 ** 28)).length;
