// kind: syntax
*/ globalThis.leftover = 1; /*
