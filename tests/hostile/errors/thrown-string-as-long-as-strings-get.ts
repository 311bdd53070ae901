// kind: runtime|memory
throw "x".repeat(2 ** 29 - 100);
