// kind: cpu
[2, 1].sort(() => {
  for (;;);
});
