// kind: memory|cpu|timeout
for (let i = 0; i < 5e6; i++) setTimeout(() => {}, 1e6);
await new Promise(() => {});
