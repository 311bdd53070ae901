// kind: cpu
async function* forever() {
  for (;;) yield 1;
}
for await (const _ of forever());
