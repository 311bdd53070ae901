// kind: runtime
const odd = [null, undefined, 1, "x", [], () => {}, Symbol("x"), { type: Symbol.iterator }, { type: "__proto__" }, { type: "constructor" }];
for (const value of odd) {
  try {
    structuredClone({ [Symbol.for("Deno.core.hostObject")]: () => value });
  } catch {
    // the next one
  }
}
structuredClone({ [Symbol.for("Deno.core.hostObject")]: 1 });
