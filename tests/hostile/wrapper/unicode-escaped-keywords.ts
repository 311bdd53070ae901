// kind: syntax
\u0072eturn 1;
