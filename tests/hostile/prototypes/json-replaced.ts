// kind: ok
// result: {"a":1}
JSON.stringify = () => '"stolen"';
JSON.parse = () => "stolen";
(globalThis as { JSON?: unknown }).JSON = undefined;
const { result } = await callTool("demo:echo", { a: 1 });
export default result;
