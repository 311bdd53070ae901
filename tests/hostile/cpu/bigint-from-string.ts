// kind: cpu
const digits = "9".repeat(3_000_000);
for (;;) BigInt(digits);
