// kind: ok
// result: [{"a":[1,2]},true]
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (name === "constructor" || name === "length") continue;
  (Array.prototype as never as Record<string, unknown>)[name] = () => {
    throw new Error("replaced " + name);
  };
}
const answer = await callTool("demo:echo", { a: [1, 2] });
console.log([1, 2], new Map([[1, 2]]));
export default [{ a: answer.result.a }, answer.success];
