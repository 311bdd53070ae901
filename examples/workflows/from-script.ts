// Runs a plan from a script, streams a large text, and follows a slow tool while it works.
//
//   pml run --config examples/workflows/servers.json examples/workflows/from-script.ts

const plan = {
  tasks: [
    { id: "list", tool: "demo:list_files", args: { path: "$INPUT.folder" } },
    { id: "read", tool: "demo:read_json", for_each: "$OUTPUT[list].files", args: { path: "$ITEM.path" }, optional: true },
    { id: "names", code: "return $OUTPUT[read].map((service) => service?.name ?? null)" },
  ],
};

export default async function main() {
  const { ok, output, tasks } = await runWorkflow<string[]>(plan, { folder: "services" });

  let words = 0;
  for await (const part of streamTool("demo:read_file", { path: "welcome.txt" })) {
    if (part.type === "text") words += part.text.split(/\s+/).length;
  }

  const steps: string[] = [];
  for await (const part of streamTool("demo:slow", { ms: 100, steps: 4 })) {
    if (part.type === "progress") steps.push(`${part.done} of ${part.total}`);
  }
  return { ok, names: output, read: tasks.read?.items, words, steps };
}
