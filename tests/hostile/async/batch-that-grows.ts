// kind: memory|cpu
const calls = [{ tool: "demo:echo", args: {} }];
await callToolsBatch(new Proxy(calls, {
  get(target, key, self) {
    if (key === "length") target.push({ tool: "demo:echo", args: {} });
    return Reflect.get(target, key, self);
  },
}));
