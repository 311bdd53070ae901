// kind: runtime
throw new Proxy(new Error("behind a proxy"), {
  get: (target, key) => (key === "stack" ? { toString: () => "stolen" } : Reflect.get(target, key)),
});
