// Reads a paginated list lazily: a page is requested only when the caller needs it.
//
//   pml run --config examples/pagination/servers.json examples/pagination/pages.ts

interface Note {
  id: number;
  title: string;
}

interface Page {
  notes: Note[];
  nextCursor?: number;
}

const PAGE = 10;

/** All notes. The next page is requested only when the notes of the previous one are consumed. */
export async function* notes(limit = PAGE): AsyncGenerator<Note> {
  let cursor: number | undefined;
  do {
    const page: Page = await tools.demo.list_notes({
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield* page.notes;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The first note that matches, without reading the pages after it. */
export async function find(matches: (note: Note) => boolean): Promise<Note | undefined> {
  for await (const note of notes()) {
    if (matches(note)) return note;
  }
  return undefined;
}

export default async function pages() {
  // The demo server keeps notes only in memory, so the script creates some first.
  await callToolsBatch(
    Array.from({ length: 35 }, (_, i) => ({
      tool: "demo:add_note",
      args: { title: `Note ${String(i + 1).padStart(2, "0")}`, text: "..." },
    })),
    { concurrency: 1 },
  );
  const titles: string[] = [];
  for await (const { title } of notes()) titles.push(title);
  const found = await find(({ title }) => title.endsWith("12"));
  return { count: titles.length, first: titles[0], last: titles.at(-1), found };
}
