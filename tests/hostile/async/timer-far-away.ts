// kind: timeout
await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
