// kind: denied
await import("npm:left-pad");
