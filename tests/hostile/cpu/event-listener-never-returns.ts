// kind: cpu
const controller = new AbortController();
controller.signal.addEventListener("abort", () => {
  for (;;);
});
controller.abort();
