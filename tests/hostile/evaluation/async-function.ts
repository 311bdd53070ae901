// kind: denied
new (Object.getPrototypeOf(async () => {}).constructor)("return 1");
