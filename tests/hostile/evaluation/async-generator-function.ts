// kind: denied
new (Object.getPrototypeOf(async function* () {}).constructor)("yield 1");
