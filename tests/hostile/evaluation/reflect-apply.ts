// kind: denied
Reflect.apply(Function, null, ["return 1"]);
