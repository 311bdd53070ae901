// kind: denied
Function("a", "return a");
