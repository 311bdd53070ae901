// kind: syntax|denied
\u0069mport "node:fs";
