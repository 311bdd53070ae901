// kind: cpu
function down(): number {
  return down() + 1;
}
for (;;) {
  try {
    down();
  } catch {
    // and again
  }
}
