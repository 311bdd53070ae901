// kind: denied
await import("file:///etc/passwd");
