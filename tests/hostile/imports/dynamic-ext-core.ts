// kind: denied
await import("ext:core/ops");
