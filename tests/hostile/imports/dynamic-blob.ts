// kind: denied
await import("blob:null/x");
