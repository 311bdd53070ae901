// kind: denied
let asked = 0;
await import({ toString: () => (asked++ ? "ext:core/ops" : "node:fs") } as never);
