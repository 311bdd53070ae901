import { beforeEach, describe, expect, mockTool, test, useRecording } from "pml/test";
import batch from "./batch.ts";

describe("with mocked files", () => {
  let inFlight = 0;
  let maxInFlight = 0;

  beforeEach(() => {
    inFlight = 0;
    maxInFlight = 0;
    mockTool("demo:list_files", () => ({
      files: Array.from({ length: 10 }, (_, i) => ({ path: `${i}.md`, bytes: i })),
    }));
    mockTool("demo:count_text", ({ text }) => ({
      lines: 1,
      words: text.split(" ").length,
      characters: text.length,
    }));
  });

  test("no more than a few files are read at once", async () => {
    const read = mockTool("demo:read_file", async () => {
      maxInFlight = Math.max(maxInFlight, ++inFlight);
      await new Promise((done) => setTimeout(done, 1));
      inFlight--;
      return "two words";
    });
    expect(await batch()).toEqual({
      files: 10,
      lines: 10,
      words: 20,
      characters: 90,
      failed: [],
    });
    expect(read).toHaveBeenCalledTimes(10);
    expect(maxInFlight).toBe(4);
  });

  test("a file that cannot be read is named, and the others count", async () => {
    mockTool("demo:read_file", ({ path }) => {
      if (path === "3.md") throw new Error("3.md is locked");
      return "word";
    });
    expect(await batch()).toMatchObject({
      files: 10,
      words: 9,
      failed: [{ path: "3.md", why: "3.md is locked" }],
    });
  });
});

test("the files of the example", async () => {
  await useRecording("./batch.recording.json");
  expect(await batch()).toMatchSnapshot();
});
