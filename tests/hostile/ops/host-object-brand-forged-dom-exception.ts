// kind: runtime
const forged = { [Symbol.for("Deno.core.hostObject")]: () => ({ type: "DOMException", name: { toString: () => "x" }, message: 1, stack: {} }) };
console.log(structuredClone(forged));
export default 1;
