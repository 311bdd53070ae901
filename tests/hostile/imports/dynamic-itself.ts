// kind: denied
await import(import.meta.url);
