// Processes many files with limited concurrency, and logs its progress.
//
//   pml run --config examples/batch/servers.json examples/batch/batch.ts -- .md
//
// Files that cannot be read are listed in the result; the others are counted.

const CHUNK = 4;

interface Count {
  lines: number;
  words: number;
  characters: number;
}

export default async function batch() {
  const suffix = args[0] ?? ".md";
  const { files } = await tools.demo.list_files({ suffix });
  const paths: string[] = files.map(({ path }: { path: string }) => path);

  const totals: Count = { lines: 0, words: 0, characters: 0 };
  const failed: { path: string; why: string }[] = [];
  for (let done = 0; done < paths.length; done += CHUNK) {
    const chunk = paths.slice(done, done + CHUNK);
    const texts = await callToolsBatch<string>(
      chunk.map((path) => ({ tool: "demo:read_file", args: { path } })),
      { concurrency: CHUNK },
    );
    for (const [i, text] of texts.entries()) {
      if (!text.success) {
        failed.push({ path: chunk[i]!, why: text.error.message });
        continue;
      }
      const count: Count = await tools.demo.count_text({ text: text.result });
      for (const key of ["lines", "words", "characters"] as const) totals[key] += count[key];
    }
    const finished = Math.min(done + CHUNK, paths.length);
    console.log(`${finished} of ${paths.length} files (${Math.round((100 * finished) / paths.length)} %)`);
  }
  return { files: paths.length, ...totals, failed };
}
