// The first script to run, from the root of the repository:
//
//   pml run examples/quickstart.ts
//   pml run examples/quickstart.ts -- 3
//
// The tools are those of `pml demo-server`, which .mcp.json configures. Logs go to standard error;
// the default export is the result.

interface Service {
  name: string;
  version: string;
  replicas: number;
  owner: string;
}

const atLeast = Number(args[0] ?? 1);

// A script has no network, no files and no environment ...
const absent = ["fetch", "Deno", "process", "require", "eval"].filter((name) => !(name in globalThis));
console.log("Not in here:", absent.join(", "));

// ... but it can search for every tool of every configured MCP server,
const found = await searchTools("read a JSON file", 3);
console.table(found.map(({ id, score }) => ({ id, score: score.toFixed(2) })));

// and call it. Five files are read concurrently, and their content stays in the sandbox:
const { files } = await tools.demo.list_files({ suffix: ".json" });
const services: Service[] = await Promise.all(
  files.map(({ path }: { path: string }) => tools.demo.read_json({ path })),
);

// `callTool` returns a failure instead of throwing it.
const missing = await callTool("demo:read_json", { path: "services/nothing.json" });
if (!missing.success) console.warn("As expected:", missing.error.message);

// Only this small result leaves the sandbox.
const large = services.filter((service) => service.replicas >= atLeast);
export default {
  services: large.map(({ name, version }) => `${name} ${version}`),
  replicas: large.reduce((sum, service) => sum + service.replicas, 0),
  owners: [...new Set(large.map((service) => service.owner))].sort(),
};
