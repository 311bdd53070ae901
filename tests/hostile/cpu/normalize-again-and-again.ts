// kind: cpu
const text = "\u0344\u1e9b\u0323".repeat(1e5);
for (;;) text.normalize("NFKD").normalize("NFC");
