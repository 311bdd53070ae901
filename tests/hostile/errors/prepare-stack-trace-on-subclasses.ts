// kind: runtime
for (const type of [TypeError, RangeError, AggregateError, Function.prototype, Object.prototype]) {
  Object.defineProperty(type, "prepareStackTrace", {
    value: () => {
      for (;;);
    },
  });
}
new TypeError("x").stack;
throw new RangeError("y");
