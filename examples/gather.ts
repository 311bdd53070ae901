// Calls many tools concurrently, keeps the large results in the sandbox, and returns a summary.
//
//   pml run examples/gather.ts
//   pml run examples/gather.ts -- welcome.txt services/search.json
//
// With a server that can read files it counts their lines; without one it reports the files as
// missing.

import { type MCPTool, callToolsBatch, searchTools } from "pml";

const paths = args.length > 0 ? args : ["welcome.txt", "services/billing.json"];

async function findReader(): Promise<MCPTool | undefined> {
  const found = await searchTools("read the text of a file", 5);
  return found.find((tool) => /read/.test(tool.name));
}

async function main() {
  const reader = await findReader();
  if (reader === undefined) {
    console.warn("There is no tool that reads files. Add a server to .mcp.json and try again.");
    return { read: 0, missing: paths };
  }

  const results = await callToolsBatch<string>(
    paths.map((path) => ({ tool: reader.id, args: { path } })),
    { concurrency: 4 },
  );
  const lines: Record<string, number> = {};
  const missing: string[] = [];
  for (const [i, result] of results.entries()) {
    const path = paths[i]!;
    if (result.success) {
      lines[path] = String(result.result).split("\n").length;
    } else {
      console.error(`${path}: ${result.error.message}`);
      missing.push(path);
    }
  }
  return { read: paths.length - missing.length, lines, missing };
}

export default main;
