// kind: denied
await import("https://example.com/x.js");
