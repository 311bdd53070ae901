import { describe, expect, mockTool, test, useRecording } from "pml/test";
import audit from "./audit.ts";

const GOOD = {
  service: "web",
  port: 8080,
  tls: { enabled: true, minVersion: "1.3" },
  image: "registry/web:1.4.2",
};

function files(configs: Record<string, object>) {
  mockTool("demo:list_files", () => ({
    files: Object.keys(configs).map((path) => ({ path, bytes: 1 })),
  }));
  return mockTool("demo:read_json", ({ path }) => configs[path]);
}

describe("one rule at a time", () => {
  test("a good configuration has no findings", async () => {
    const read = files({ "web.json": GOOD });
    expect(await audit()).toMatchObject({ files: 1, findings: 0, byRule: {} });
    expect(read).toHaveBeenCalledWith({ path: "web.json" });
  });

  test.each([
    ["debug is off", { debug: true }],
    ["TLS is on", { tls: { enabled: false } }],
    ["TLS is 1.2 or newer", { tls: { enabled: true, minVersion: "1.1" } }],
    ["images are pinned", { image: "registry/web:latest" }],
    ["images are pinned", { image: "registry/web" }],
  ])("%s: %s", async (rule, change) => {
    files({ "web.json": { ...GOOD, ...change } });
    expect((await audit()).byRule).toEqual({ [rule]: 1 });
  });

  test("two services on one port", async () => {
    files({ "a.json": { ...GOOD, service: "a" }, "b.json": { ...GOOD, service: "b" } });
    expect((await audit()).worst).toEqual([
      { file: "b.json", rule: "ports are unique", detail: "8080 is a's" },
    ]);
  });
});

test("the 50 files of the example", async () => {
  await useRecording("./audit.recording.json");
  expect(await audit()).toMatchSnapshot();
});
