import { beforeEach, describe, expect, fakeTime, type FakeTime, mockTool, test, useRecording } from "pml/test";
import retry, { callWithRetry } from "./retry.ts";

function failing(times: number, failure: object = {}) {
  let failures = 0;
  return mockTool("api:get", () => {
    if (failures++ === times) return "at last";
    throw new ToolError("api:get", {
      kind: "unavailable",
      message: "busy",
      retryable: true,
      ...failure,
    });
  });
}

describe("with a fake clock", () => {
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime("2026-01-01T00:00:00Z");
  });

  test("a call that succeeds is made once, without delay", async () => {
    const get = failing(0);
    expect(await callWithRetry("api:get", { id: 1 })).toBe("at last");
    expect(get.calls).toEqual([{ id: 1 }]);
  });

  test("the delay doubles", async () => {
    const get = failing(3);
    const answer = callWithRetry("api:get", {});
    await time.advance(0);
    expect(get).toHaveBeenCalledTimes(1);
    await time.advance(100);
    expect(get).toHaveBeenCalledTimes(2);
    await time.advance(200);
    expect(get).toHaveBeenCalledTimes(3);
    await time.advance(400);
    expect(await answer).toBe("at last");
  });

  test("it gives up after the last attempt", async () => {
    const get = failing(99);
    const answer = expect(callWithRetry("api:get", {})).rejects.toMatchObject({
      kind: "unavailable",
    });
    await time.runAll();
    await answer;
    expect(get).toHaveBeenCalledTimes(5);
  });

  test("the delay that the server asks for is used", async () => {
    const get = failing(1, { retryAfterMs: 60_000 });
    const answer = callWithRetry("api:get", {});
    await time.advance(59_999);
    expect(get).toHaveBeenCalledTimes(1);
    await time.advance(1);
    expect(await answer).toBe("at last");
  });

  test("a permanent failure is not retried", async () => {
    const get = failing(99, { kind: "arguments", message: "no such field", retryable: false });
    await expect(callWithRetry("api:get", {})).rejects.toThrow("no such field");
    expect(get).toHaveBeenCalledTimes(1);
  });
});

test("against the recorded server, without waiting", async () => {
  await useRecording("./retry.recording.json");
  expect(await retry()).toEqual({
    flaky: { attempts: 3 },
    lost: expect.stringContaining("not repeated"),
  });
});
