// kind: runtime
let error: Error = new Error("innermost");
for (let i = 0; i < 100_000; i++) error = new AggregateError([error], "outer");
throw error;
