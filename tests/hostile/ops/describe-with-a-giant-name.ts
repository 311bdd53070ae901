// kind: ok
// result: ["a name has at most 512 bytes, an address 64 KiB",3]
const told: string[] = [];
const giant = "x:" + "y".repeat(4_000_000);
for (const ask of [() => describeTool(giant), () => load(giant), () => listResources(giant)]) {
  await ask().catch((error: Error) => told.push(error.message));
}
export default [told[0], told.length];
