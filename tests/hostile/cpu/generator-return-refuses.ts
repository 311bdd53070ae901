// kind: cpu
function* stubborn() {
  for (;;) {
    try {
      yield 1;
    } finally {
      for (;;);
    }
  }
}
for (const _ of stubborn()) break;
