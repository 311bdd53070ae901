// kind: denied
console.log.constructor.constructor("return this")();
