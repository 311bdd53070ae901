// kind: cpu
for (;;) await null;
