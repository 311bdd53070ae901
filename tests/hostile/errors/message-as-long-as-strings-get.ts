// kind: runtime|memory
throw new Error("x".repeat(2 ** 29 - 100));
