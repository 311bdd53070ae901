// kind: denied
new (Function.bind(null, "return 1"))();
