// kind: ok
for (const value of [undefined, null, NaN, 2 ** 53, -1, "x", {}, Symbol.iterator.description, 1n]) {
  try {
    clearTimeout(value as never);
    clearInterval(value as never);
  } catch {
    // the next one
  }
}
for (let id = 0; id < 1000; id++) clearTimeout(id);
await new Promise((resolve) => setTimeout(resolve, 5));
export default 1;
