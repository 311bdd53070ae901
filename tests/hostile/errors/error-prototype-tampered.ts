// kind: runtime
Object.defineProperty(Error.prototype, "name", { get() { throw 1; } });
Object.defineProperty(Error.prototype, "message", { get() { throw 2; } });
Error.prototype.toString = () => {
  throw 3;
};
throw new Error();
