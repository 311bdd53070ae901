// kind: calls
const all = [];
for (let i = 0; i < 1e4; i++) all.push(callTool("demo:echo", { i }));
await Promise.all(all);
