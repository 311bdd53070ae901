// A script with an MCP server behind it; needs Node for `npx`. From the root of the repository:
//
//   pml run --config examples/servers.json examples/files.ts
//   pml run --config examples/servers.json examples/files.ts -- docs
//
// It reads every Markdown file of a folder at once. The texts stay here; three short lines leave.

interface Page {
  path: string;
  words: number;
}

const folder = args[0] ?? ".";
const listed = String(await text("fs:list_directory", { path: folder }));
const paths = listed
  .split("\n")
  .filter((line) => line.startsWith("[FILE]") && line.endsWith(".md"))
  .map((line) => `${folder}/${line.replace("[FILE] ", "")}`);

const pages: Page[] = await Promise.all(paths.map(async (path) => ({
  path,
  words: String(await text("fs:read_text_file", { path })).split(/\s+/).length,
})));

/** The server answers with text, or with an object that holds it as `content`. */
async function text(tool: string, input: Record<string, unknown>): Promise<unknown> {
  const answer = await callTool(tool, input);
  if (!answer.success) throw new Error(answer.error?.message);
  const result = answer.result as string | { content: string };
  return typeof result === "string" ? result : result.content;
}

export default pages
  .sort((a, b) => b.words - a.words)
  .slice(0, 3)
  .map((page) => `${page.path}: ${page.words} words`);
