// kind: denied
await import.source("file:///x.wasm");
