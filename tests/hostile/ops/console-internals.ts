// kind: ok
// result: []
const found: string[] = [];
for (const key of Reflect.ownKeys(console)) {
  const value = (console as never as Record<PropertyKey, unknown>)[key];
  if (typeof value !== "function") found.push(String(key));
  else if (typeof value.prototype === "object" && value.prototype !== null) found.push(String(key) + ".prototype");
}
export default found.filter((name) => name !== "clear.prototype");
