// kind: ok|runtime|memory|cpu
const brand = Symbol.for("Deno.core.hostObject");
const nested: unknown = { [brand]: () => structuredClone(nested) };
structuredClone(nested);
