// kind: runtime
2n ** (2n ** 31n);
