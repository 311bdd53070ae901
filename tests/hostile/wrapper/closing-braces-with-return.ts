// kind: syntax
return 1; }); globalThis.leftover = 1; (() => {
