// kind: ok
for (const value of [globalThis, tools, Object.freeze({}), console, new Proxy({}, {}), Promise]) {
  try {
    Error.captureStackTrace(value as object);
  } catch {
    // the next one
  }
}
export default 1;
