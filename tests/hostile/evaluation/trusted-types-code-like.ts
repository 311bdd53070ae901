// kind: denied
const code = { [Symbol.toPrimitive]: () => "return 1", isCodeLike: true };
new Function(code as never);
