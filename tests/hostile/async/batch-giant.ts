// kind: calls|cpu
await callToolsBatch(Array.from({ length: 1e5 }, (_, i) => ({ tool: "demo:echo", args: { i } })));
