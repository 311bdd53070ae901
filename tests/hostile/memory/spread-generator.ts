// kind: memory
function* forever() {
  for (;;) yield {};
}
[...forever()];
