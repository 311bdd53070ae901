// kind: denied
Reflect.construct(Function, ["return 1"], class {});
