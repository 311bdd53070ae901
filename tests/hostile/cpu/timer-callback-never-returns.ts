// kind: cpu
setTimeout(() => {
  for (;;);
}, 1);
await new Promise(() => {});
