// kind: cpu
function* forever() {
  for (;;) yield 1;
}
for (const _ of forever());
