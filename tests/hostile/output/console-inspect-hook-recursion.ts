// kind: runtime
const again = {
  [Symbol.for("Deno.customInspect")](inspect: (value: unknown, options?: unknown) => string, options: unknown) {
    return inspect(again, options) + inspect(again, options);
  },
};
console.log(again);
