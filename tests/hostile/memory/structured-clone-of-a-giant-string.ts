// kind: memory|runtime|ok
structuredClone("x".repeat(2 ** 28)).length;
