// kind: ok
// result: 1
"use asm"; "use sloppy"; "%NativesSyntax";
export default 1;
