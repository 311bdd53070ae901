// Keeps a note for every file: effects that must not happen twice. The run survives a crash at any
// place, and a person who looks at it later.
//
//   pml run --durable --run-id digest --config examples/durable/servers.json examples/durable/digest.ts
//   kill -9 the process, then:
//   pml resume digest
//
// What was answered is answered from the journal. A note whose answer was lost is shown by
// `pml runs show digest`, and is neither repeated nor forgotten.

interface File {
  path: string;
  bytes: number;
}

export default async function digest() {
  const { files } = await tools.demo.list_files({}) as { files: File[] };
  const titles: string[] = [];
  for (const { path } of files) {
    const read = await callTool<string>("demo:read_file", { path });
    if (!read.success) continue;
    const text = read.result;
    const { words } = await tools.demo.count_text({ text }) as { words: number };
    const title = `${path}: ${words} words`;
    await tools.demo.add_note({ title, text: text.slice(0, 80) });
    titles.push(title);
  }
  return titles;
}
