// kind: memory|cpu
let chain: Promise<unknown> = Promise.resolve();
for (;;) chain = chain.then(() => chain);
