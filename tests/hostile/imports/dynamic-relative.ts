// kind: denied
await import("./secret.ts");
