// kind: denied|syntax
await import.source("file:///x.wasm");
