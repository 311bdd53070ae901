import { expect, mockTool, runScript, test, useRecording } from "pml/test";
import changelog, { parseLog } from "./changelog.ts";

const LOG = `Commit history:
Commit: cd7a64fe74faf603d99d0b597222334d0bef0c5a
Author: A
Date: 2026-10-14 10:00:00+00:00
Message: Fix a panic


Commit: 69dcc400b1f2aa2c3de246c7c14abae9f062df8f
Author: B
Date: 2026-10-13 10:00:00+00:00
Message: Merge branch 'next'
`;

test("the log of the server is parsed", () => {
  expect(parseLog(LOG)).toEqual([
    { hash: "cd7a64f", date: "2026-10-14", subject: "Fix a panic" },
    { hash: "69dcc40", date: "2026-10-13", subject: "Merge branch 'next'" },
  ]);
  expect(parseLog("Commit history:\n")).toEqual([]);
});

test("merges are left out", async () => {
  mockTool("git:git_log", () => LOG);
  expect(await changelog()).toBe("# Changelog\n\n## Fixed\n\n- Fix a panic (cd7a64f)\n");
});

test("the repository and the number of commits are arguments", async () => {
  const log = mockTool("git:git_log", () => "");
  await runScript("./changelog.ts", { args: ["/some/where", "3"] });
  expect(log).toHaveBeenCalledWith({ repo_path: "/some/where", max_count: 3 });
});

test("a repository, recorded from the real server", async () => {
  await useRecording("./changelog.recording.json");
  expect(await changelog()).toMatchSnapshot();
});
