import { expect, mockTool, test, useRecording } from "pml/test";
import pages, { find, notes } from "./pages.ts";

/** Mocks a server with `count` notes. */
function serverWith(count: number) {
  return mockTool("demo:list_notes", ({ cursor = 1, limit }) => {
    const last = Math.min(cursor + limit - 1, count);
    const ids = Array.from({ length: Math.max(0, last - cursor + 1) }, (_, i) => cursor + i);
    return {
      notes: ids.map((id) => ({ id, title: `Note ${id}` })),
      ...(last < count ? { nextCursor: last + 1 } : {}),
    };
  });
}

async function all(limit: number) {
  const ids: number[] = [];
  for await (const { id } of notes(limit)) ids.push(id);
  return ids;
}

test.each([
  [0, 1],
  [3, 1],
  [4, 1],
  [5, 2],
  [12, 3],
])("%s notes take %s pages of four", async (count, expected) => {
  const list = serverWith(count);
  expect(await all(4)).toHaveLength(count);
  expect(list).toHaveBeenCalledTimes(expected);
});

test("the first page is requested without a cursor, the next with the cursor of the page before", async () => {
  const list = serverWith(6);
  await all(4);
  expect(list.calls).toEqual([{ limit: 4 }, { limit: 4, cursor: 5 }]);
});

test("pages after the match are not read", async () => {
  const list = serverWith(1_000);
  expect(await find(({ id }) => id === 12)).toEqual({ id: 12, title: "Note 12" });
  expect(list).toHaveBeenCalledTimes(2);
});

test("against the recorded server", async () => {
  await useRecording("./pages.recording.json");
  expect(await pages()).toMatchSnapshot();
});
