// kind: runtime
const error = new AggregateError([], "x");
error.errors = new Proxy([], { get: (_target, key) => (key === "length" ? 2 ** 32 - 1 : { name: 1 }) });
throw error;
