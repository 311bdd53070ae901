// kind: syntax
with ({ a: 1 }) { a; }
