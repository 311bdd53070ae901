// kind: runtime
throw 2n ** 100n;
