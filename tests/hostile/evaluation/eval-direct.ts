// kind: runtime
eval("1");
