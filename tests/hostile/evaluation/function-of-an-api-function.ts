// kind: denied
new (callTool.constructor as FunctionConstructor)("return 1");
