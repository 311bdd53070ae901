// kind: ok
// result: ["text","\ufffd"]
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  if (name === "constructor" || name === "length") continue;
  (String.prototype as never as Record<string, unknown>)[name] = () => {
    throw new Error("replaced " + name);
  };
}
console.log("text", { a: "b" });
await searchTools("words");
export default ["text", "\ud800"];
