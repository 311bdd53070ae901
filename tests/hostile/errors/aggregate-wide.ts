// kind: runtime|memory
throw new AggregateError(Array.from({ length: 1e5 }, (_, i) => new Error("number " + i)), "many");
