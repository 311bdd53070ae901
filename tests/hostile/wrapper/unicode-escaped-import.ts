// kind: syntax
\u0069mport "node:fs";
