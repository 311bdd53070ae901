// kind: runtime
(0, eval)("1");
