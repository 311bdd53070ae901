// The first script to run:
//
//   pml run examples/quickstart.ts
//   pml run examples/quickstart.ts -- Ada
//
// It needs no MCP server. What it logs goes to standard error, what it exports is the result.

interface Step {
  name: string;
  millis: number;
}

const steps: Step[] = [];

/** Runs a piece of work and notes how long it took. */
async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } finally {
    steps.push({ name, millis: Math.round((performance.now() - began) * 10) / 10 });
  }
}

const who = args[0] ?? "newcomer";
console.log("Hello, %s! This is TypeScript in a sandbox.", who);

// There is no network, no file and no environment in here ...
const absent = ["fetch", "Deno", "process", "require", "eval"].filter((name) => !(name in globalThis));
console.log("Not in here:", absent);

// ... but every tool of every configured MCP server can be found with words,
const found = await timed("search", () => searchTools("read a text file", 3));
if (found.length > 0) {
  console.table(found.map(({ id, score }) => ({ id, score })));
} else {
  console.log("No tool found: no server is configured yet.");
}

// and called by its id. A call that fails answers instead of throwing.
const reader = found.find((tool) => tool.name.startsWith("read"));
const id = reader?.id ?? "files:read_text_file";
const answer = await timed("call", () => callTool<string>(id, { path: "README.md" }));
if (answer.success) {
  console.log("%s gave %d characters.", id, String(answer.result).length);
} else {
  console.warn("%s failed: %s", id, answer.error.message);
}

export default {
  greeted: who,
  found: found.map((tool) => tool.id),
  called: { tool: id, success: answer.success },
  steps,
};
