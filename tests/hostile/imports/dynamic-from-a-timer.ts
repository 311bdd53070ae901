// kind: denied
await new Promise((_, reject) => setTimeout(() => import("node:fs").catch(reject), 1));
