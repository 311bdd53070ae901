// kind: denied
await import("node:pml");
