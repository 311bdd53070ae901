// kind: denied
await import("ext:core/mod.js");
