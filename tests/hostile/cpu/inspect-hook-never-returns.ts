// kind: cpu
console.log({
  [Symbol.for("Deno.customInspect")]() {
    for (;;);
  },
  [Symbol.for("nodejs.util.inspect.custom")]() {
    for (;;);
  },
});
