// kind: cpu
await new Promise(() => {
  for (;;);
});
