// kind: runtime
new Array(-1);
