// kind: calls
for (;;) {
  try {
    await tools.demo.fail({});
  } catch {
    // tries again
  }
}
