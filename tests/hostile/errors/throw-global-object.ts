// kind: runtime
throw globalThis;
