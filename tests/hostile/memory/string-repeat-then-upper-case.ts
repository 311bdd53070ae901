// kind: memory
"\u00e4".repeat(2 ** 28).toUpperCase().length;
