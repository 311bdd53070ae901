// kind: cpu
for (;;) Array.from({ length: 1e5 }, Math.random).sort(() => Math.random() - 0.5);
