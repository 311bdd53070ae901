// kind: runtime
structuredClone({ [Symbol.for("Deno.core.hostObject")]: () => ({ type: "nothing" }) });
