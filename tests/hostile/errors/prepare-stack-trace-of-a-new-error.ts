// kind: runtime
function Fake() {}
Fake.prepareStackTrace = () => {
  for (;;);
};
(globalThis as { Error: unknown }).Error = Fake;
throw new TypeError("x");
