// kind: denied|runtime
await import("pml", { with: { type: "json" } });
