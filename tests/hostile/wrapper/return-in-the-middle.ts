// kind: ok
// result: 1
return 1;
{ globalThis.leftover = 1; }
