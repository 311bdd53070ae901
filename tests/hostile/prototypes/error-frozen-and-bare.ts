// kind: runtime
Object.setPrototypeOf(TypeError.prototype, null);
Object.setPrototypeOf(Error.prototype, null);
Object.freeze(Error);
throw new TypeError("without a prototype");
