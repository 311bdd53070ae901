// kind: ok
// result: ["a name has at most 512 bytes, a URI 64 KiB",3]
const messages: string[] = [];
const giant = "x:" + "y".repeat(4_000_000);
for (const ask of [() => describeTool(giant), () => load(giant), () => listResources(giant)]) {
  await ask().catch((error: Error) => messages.push(error.message));
}
export default [messages[0], messages.length];
