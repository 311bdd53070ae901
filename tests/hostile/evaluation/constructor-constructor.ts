// kind: denied
[].constructor.constructor("return globalThis")();
