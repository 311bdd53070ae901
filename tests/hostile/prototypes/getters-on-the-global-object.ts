// kind: ok
// result: []
const stolen: string[] = [];
for (const name of ["Deno", "__bootstrap", "__pml", "eval", "Promise", "queueMicrotask", "console", "event", "reportError", "onerror", "onunhandledrejection"]) {
  Object.defineProperty(globalThis, name, {
    get: () => {
      stolen.push(name);
      return undefined;
    },
    set: () => stolen.push(name),
    configurable: true,
  });
}
await callTool("demo:echo", {});
await { then: (resolve: (value: unknown) => void) => setTimeout(resolve, 1) };
export default stolen;
