// kind: runtime
Error.prepareStackTrace = () => {
  for (;;);
};
throw new Error("plain");
