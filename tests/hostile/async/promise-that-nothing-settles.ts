// kind: runtime
await new Promise(() => {});
