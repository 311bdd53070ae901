// kind: ok
// result: []
let stack = "";
await callTool("demo:echo", { get a() { stack = new Error("inside").stack ?? ""; return 1; } });
export default stack.split("\n").filter((line) => /\/(work|root|home|usr|tmp)\/|registry|deno_core-/.test(line));
