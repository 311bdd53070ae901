// kind: memory
const all: unknown[] = [];
for (;;) {
  try {
    for (;;) all.push(new Array(1000).fill(all));
  } catch {
    continue;
  } finally {
    all.push(all);
  }
}
