// kind: ok
// result: [{"a":1},"function"]
for (const name of ["Reflect", "Proxy", "Symbol", "Object", "Array", "Map", "WeakMap", "TypeError", "Uint8Array"]) {
  delete (globalThis as never as Record<string, unknown>)[name];
}
console.log({ a: [1] });
export default [(await callTool("demo:echo", { a: 1 })).result, typeof tools.demo.echo];
