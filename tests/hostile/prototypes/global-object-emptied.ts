// kind: ok
// result: {"a":[1]}
for (const key of Reflect.ownKeys(globalThis)) {
  try {
    delete (globalThis as never as Record<PropertyKey, unknown>)[key];
  } catch {
    // some cannot be deleted
  }
}
export default { a: [1] };
