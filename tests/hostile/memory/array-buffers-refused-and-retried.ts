// kind: memory
const all = [];
for (;;) {
  try {
    all.push(new Uint8Array(1e6).fill(1));
  } catch {
    // asks again
  }
}
