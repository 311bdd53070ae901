// kind: cpu
/^(?:[\p{L}--[a-z]]|\p{L}|.)*$/v.test("a".repeat(30) + "\n") || /^(?:(?:\p{L}|\w)+)+\d$/u.test("a".repeat(60));
