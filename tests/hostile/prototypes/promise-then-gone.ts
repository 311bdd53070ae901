// kind: ok
// result: {"a":1}
delete (Promise.prototype as { then?: unknown }).then;
delete (Promise as { resolve?: unknown }).resolve;
const { result } = await callTool("demo:echo", { a: 1 });
export default result;
