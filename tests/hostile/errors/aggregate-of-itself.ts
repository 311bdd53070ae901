// kind: runtime
const error = new AggregateError([], "x");
error.errors = [error];
throw error;
