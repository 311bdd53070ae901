// kind: runtime
const brand = Symbol.for("Deno.core.hostObject");
const nested: unknown = { [brand]: () => structuredClone(nested) };
structuredClone(nested);
