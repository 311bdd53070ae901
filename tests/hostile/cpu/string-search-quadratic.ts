// kind: cpu
const hay = "ab".repeat(4e6);
const needle = "ab".repeat(2e6) + "a" + "b".repeat(2);
for (;;) hay.lastIndexOf(needle);
