// kind: ok
const error = new Error("x");
Object.defineProperty(error, "stack", { value: { length: 1e9 } });
const cyclic = new AggregateError([error], "y");
cyclic.errors.push(cyclic);
cyclic.cause = cyclic;
console.log(error, cyclic);
export default 1;
