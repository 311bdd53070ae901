// kind: ok
const error = new RangeError("as data", { cause: new Error("inner") });
export default { error, aggregate: new AggregateError([error, error], "many") };
