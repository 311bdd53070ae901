// kind: ok
// result: [true,null,1]
const { success, result } = await callTool("demo:poison");
const own = Object.hasOwn(result, "__proto__");
export default [success && own, ({} as { leftover?: number }).leftover ?? null, result.then];
