// kind: denied
await import.defer("node:fs");
