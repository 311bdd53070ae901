// kind: runtime
await import("pml", {
  get with() {
    throw new Error("no options");
  },
} as never);
