// kind: denied
new (Object.getPrototypeOf(function* () {}).constructor)("yield 1");
