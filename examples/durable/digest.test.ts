import { expect, mockTool, test, useRecording } from "pml/test";
import digest from "./digest.ts";

test("a note for every file, in the order of the files", async () => {
  mockTool("demo:list_files", () => ({ files: [{ path: "a.md", bytes: 3 }, { path: "b.md", bytes: 5 }] }));
  mockTool("demo:read_file", ({ path }) => `text of ${path}`);
  mockTool("demo:count_text", ({ text }) => ({ words: text.split(" ").length }));
  const note = mockTool("demo:add_note", () => ({ id: 1 }));
  expect(await digest()).toEqual(["a.md: 3 words", "b.md: 3 words"]);
  expect(note).toHaveBeenCalledTimes(2);
});

test("against the recorded server", async () => {
  await useRecording("./digest.recording.json");
  expect(await digest()).toHaveLength(10);
});
