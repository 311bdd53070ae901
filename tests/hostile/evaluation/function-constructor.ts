// kind: denied
new Function("return 1")();
