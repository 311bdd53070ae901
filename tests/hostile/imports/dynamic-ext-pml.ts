// kind: denied
await import("ext:pml/90_start.js");
