// kind: ok
// result: ["undefined","string",false]
let called = false;
Error.prepareStackTrace = () => {
  called = true;
  return "stolen";
};
try {
  Object.defineProperty(Error, "prepareStackTrace", { value: () => (called = true) });
} catch {
  // it cannot be defined
}
const stack = typeof new Error("x").stack;
export default [typeof Error.prepareStackTrace, stack, called];
