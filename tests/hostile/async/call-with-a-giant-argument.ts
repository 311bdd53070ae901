// kind: ok
await callTool("demo:echo", { text: "x".repeat(20_000_000) });
