// kind: ok|cpu
const all = [];
for (let i = 0; i < 20_000; i++) all.push(import("file:///" + i).catch(() => 0));
await Promise.all(all);
export default 1;
