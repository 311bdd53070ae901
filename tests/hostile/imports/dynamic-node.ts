// kind: denied
await import("node:fs");
