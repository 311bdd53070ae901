// kind: memory|runtime|ok
btoa("x".repeat(2 ** 28)).length;
