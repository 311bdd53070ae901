// kind: ok
// result: []
const { apply } = Reflect;
const stolen: string[] = [];
for (const name of ["call", "apply", "bind"] as const) {
  try {
    Function.prototype[name] = function (this: Function, self: unknown, ...given: unknown[]) {
      stolen.push(this.name);
      return apply(this, self, given);
    } as never;
  } catch {
    // it cannot be replaced
  }
}
await callTool("demo:echo", {});
await searchTools("echo");
await describeTool("demo:echo");
export default stolen.filter((name) => name.startsWith("op_"));
