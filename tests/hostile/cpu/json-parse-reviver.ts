// kind: cpu
JSON.parse("[1]", () => {
  for (;;);
});
