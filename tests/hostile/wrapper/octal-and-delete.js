// kind: syntax
var a = 010; delete a;
