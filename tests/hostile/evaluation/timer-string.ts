// kind: denied
setTimeout("globalThis.leftover = 1", 0);
await new Promise((resolve) => setTimeout(resolve, 20));
