// kind: output
for (;;) {
  try {
    for (;;) console.error("flood");
  } catch {
    continue;
  }
}
