// kind: cpu
/^(a+)+$/.test("a".repeat(50) + "!");
