// kind: ok
// result: {"a":"called"}
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => {
  throw new Error("replaced");
};
Reflect.apply = () => "stolen" as never;
console.log("text");
await callTool("demo:echo", {});
export default { a: { toJSON: () => "called" } };
