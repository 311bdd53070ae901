// kind: denied|syntax
await import.defer("node:fs");
