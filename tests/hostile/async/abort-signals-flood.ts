// kind: memory|cpu|timeout
const all = [];
for (;;) all.push(AbortSignal.timeout(1e6), AbortSignal.any(all.slice(-3)));
