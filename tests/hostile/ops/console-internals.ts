// kind: ok
// result: []
const own = Reflect.ownKeys(console).filter((key) => key !== Symbol.toStringTag);
export default own.filter((key) => typeof (console as never as Record<PropertyKey, unknown>)[key] !== "function").map(String);
