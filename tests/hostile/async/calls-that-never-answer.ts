// kind: timeout
await Promise.all(Array.from({ length: 50 }, () => callTool("demo:sleep", {})));
