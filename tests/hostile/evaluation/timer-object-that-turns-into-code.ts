// kind: runtime
setTimeout({ toString: () => "globalThis.leftover = 1" } as never, 0);
await new Promise((resolve) => setTimeout(resolve, 20));
