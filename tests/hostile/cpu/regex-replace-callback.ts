// kind: cpu
"x".replace(/x/, () => {
  for (;;);
});
