// kind: denied
await import("pml", { with: { type: "json" } });
