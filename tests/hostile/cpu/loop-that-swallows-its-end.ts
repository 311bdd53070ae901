// kind: cpu
for (;;) {
  try {
    for (;;);
  } catch {
    continue;
  } finally {
    continue;
  }
}
