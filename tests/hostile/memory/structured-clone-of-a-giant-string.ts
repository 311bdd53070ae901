// kind: memory|runtime
structuredClone("x".repeat(2 ** 28)).length;
