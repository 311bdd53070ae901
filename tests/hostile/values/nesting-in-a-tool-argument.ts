// kind: ok
let nested: unknown = 1;
for (let i = 0; i < 200_000; i++) nested = { nested };
await callTool("demo:echo", { nested });
