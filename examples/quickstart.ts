// The first script to run, from the root of the repository:
//
//   pml run examples/quickstart.ts
//   pml run examples/quickstart.ts -- 3
//
// The tools are those of `pml demo-server`, which .mcp.json names. What the script logs goes to
// standard error, what it exports is the result.

interface Service {
  name: string;
  version: string;
  replicas: number;
  owner: string;
}

const atLeast = Number(args[0] ?? 1);

// There is no network, no file and no environment in here ...
const absent = ["fetch", "Deno", "process", "require", "eval"].filter((name) => !(name in globalThis));
console.log("Not in here:", absent.join(", "));

// ... but every tool of every configured MCP server can be found with words,
const found = await searchTools("read a JSON file", 3);
console.table(found.map(({ id, score }) => ({ id, score: score.toFixed(2) })));

// and called. Five files are read at once, and stay in the sandbox:
const { files } = await tools.demo.list_files({ suffix: ".json" });
const services: Service[] = await Promise.all(
  files.map(({ path }: { path: string }) => tools.demo.read_json({ path })),
);

// A call by id answers instead of throwing, also when it fails.
const missing = await callTool("demo:read_json", { path: "services/nothing.json" });
if (!missing.success) console.warn("As expected:", missing.error.message);

// Only this small result leaves.
const large = services.filter((service) => service.replicas >= atLeast);
export default {
  services: large.map(({ name, version }) => `${name} ${version}`),
  replicas: large.reduce((sum, service) => sum + service.replicas, 0),
  owners: [...new Set(large.map((service) => service.owner))].sort(),
};
