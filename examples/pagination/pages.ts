// Reads a list page by page until there is no more, and no further than asked.
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

/** Every note, a page at a time: the next page is asked for only when it is needed. */
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

/** The first note that fits, without reading the pages behind it. */
export async function find(fits: (note: Note) => boolean): Promise<Note | undefined> {
  for await (const note of notes()) {
    if (fits(note)) return note;
  }
  return undefined;
}

export default async function pages() {
  // The demo server forgets its notes when it ends, so there are some to begin with.
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
