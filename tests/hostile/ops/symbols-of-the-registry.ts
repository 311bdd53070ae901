// kind: ok
// result: []
const words = ["Deno.core", "Deno.internal", "Deno", "Deno.core.hostObject", "Deno.customInspect", "Deno.privateCustomInspect", "nodejs.util.inspect.custom", "nodejs.rejection", "pml", "op_state"];
export default words.filter((word) => (globalThis as never as Record<symbol, unknown>)[Symbol.for(word)] !== undefined);
