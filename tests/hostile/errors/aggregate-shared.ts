// kind: runtime
let error: Error = new Error("leaf");
for (let i = 0; i < 40; i++) error = new AggregateError([error, error], "twice");
throw error;
