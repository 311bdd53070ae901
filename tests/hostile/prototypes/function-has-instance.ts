// kind: runtime
Object.defineProperty(ToolError, Symbol.hasInstance, { value: () => true });
await tools.demo.echo([] as never);
