// kind: ok
// result: []
const specifiers = [
  "file:///etc/passwd", "http://127.0.0.1/", "https://example.com/x.js", "data:text/javascript,export default 1",
  "data:application/json,1", "blob:null/x", "node:fs", "node:pml", "node:process", "fs", "npm:left-pad", "jsr:@std/fs",
  "ext:core/ops", "ext:core/mod.js", "ext:pml/90_start.js", "ext:pml/40_tools.js", "ext:deno_web/01_console.js",
  "./x.ts", "../x.ts", "/etc/passwd", "hostile.ts", "./hostile.ts", "file:///hostile.ts", "", " ", "pml ", "PML",
  "pml?x", "pml#x", "checkin:x", "about:blank", "javascript:1", "\u0000", "\ud800", "deno:core", "internal:x", "wasm:js",
];
const loaded: string[] = [];
const odd: string[] = [];
for (const specifier of specifiers) {
  for (const options of [undefined, { with: { type: "json" } }, { with: { type: "text" } }]) {
    try {
      await import(specifier, options as never);
      loaded.push(specifier);
    } catch (error) {
      if (!(error instanceof TypeError)) odd.push(specifier + ": " + error);
    }
  }
}
export default [...loaded, ...odd];
