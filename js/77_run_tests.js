// Runs the tests of a file one after the other, and reports the status of each to the broker.

import { primordials } from "ext:core/mod.js";
import { op_void_async_deferred } from "ext:core/ops";
import { realTimers } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { sendToHarness } from "ext:pml/41_harness.js";
import { describeThrown } from "ext:pml/55_errors.js";
import { pair, setCurrentTest, takeUncaught } from "ext:pml/60_result.js";
import { AssertionError } from "ext:pml/72_expect.js";
import { beginTest, endTest, startMocking } from "ext:pml/73_mocks.js";
import {
  endCollecting,
  excludedByOnly,
  file,
  fullName,
  modeOf,
  SEPARATOR,
} from "ext:pml/74_declare.js";
import { loadSnapshots, setSnapshotTest } from "ext:pml/75_snapshots.js";
import { enterTest, leaveTest } from "ext:pml/76_test_environment.js";

const {
  ArrayPrototypePush,
  ArrayPrototypeUnshift,
  DateNow,
  Error,
  JSONParse,
  JSONStringify,
  Promise,
  PromisePrototypeThen,
  RegExpPrototypeExec,
  SafeRegExp,
  StringPrototypeIncludes,
} = primordials;

// Exports of "pml/test" that are globals in other test runners.
const GLOBALS_ELSEWHERE = {
  __proto__: null,
  afterAll: true,
  afterEach: true,
  beforeAll: true,
  beforeEach: true,
  describe: true,
  expect: true,
  it: true,
  test: true,
};
const UNDEFINED_NAME = new SafeRegExp(/^ReferenceError: (\w+) is not defined$/);
const POSITION = new SafeRegExp(/file:\/\/\/(\S+:\d+:\d+)/);

let settings;

async function runTests(script, settingsText) {
  settings = JSONParse(settingsText);
  loadSnapshots(settings.snapshots, settings.update);
  startMocking();
  try {
    await script();
    endCollecting();
    if (file.hasOnly && !settings.allowOnly) {
      throw new Error("a test is marked `only`, but CI must run all tests; remove the mark");
    }
    const names = list();
    collectNames(file, names);
    await sendToHarness({ __proto__: null, planned: names });
    await runGroup(file, modeOf(file, "run"));
    return pair(undefined, undefined);
  } catch (thrown) {
    return pair(undefined, describeFailure(thrown));
  }
}

// The names of all tests that will run or be skipped, sent in advance: if a test ends the worker,
// the tests after it are still reported.
function collectNames(at, names) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    if (item.tests !== undefined) collectNames(item, names);
    else if (matchesFilter(item)) ArrayPrototypePush(names, fullName(item));
  }
}

async function runGroup(at, mode) {
  const runs = mode === "run" && hasTestsToRun(at);
  if (runs) {
    for (let i = 0; i < at.beforeAll.length; i++) {
      const failure = await attemptHook(at, at.beforeAll[i], "beforeAll");
      if (failure !== undefined) {
        await failAll(at, mode, failure);
        return;
      }
    }
  }
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    const inner = excludedByOnly(at, item) ? "skip" : modeOf(item, mode);
    if (item.tests !== undefined) await runGroup(item, inner);
    else await runTest(item, inner);
  }
  if (runs) {
    for (let i = at.afterAll.length - 1; i >= 0; i--) {
      const failure = await attemptHook(at, at.afterAll[i], "afterAll");
      if (failure !== undefined) await reportEnd(hookName(at, "afterAll"), "failed", 0, failure);
    }
  }
}

function hookName(at, what) {
  return at === file ? what : fullName(at) + SEPARATOR + what;
}

async function attemptHook(at, body, what) {
  const { timeoutMs } = settings;
  await begin(hookName(at, what), timeoutMs);
  const failure = withUncaught(await attempt(body, timeoutMs, what), await uncaught());
  await sendToHarness({ __proto__: null, began: null });
  return failure;
}

function hasTestsToRun(at) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    if (excludedByOnly(at, item) || item.flags.skip || item.flags.todo) continue;
    if (item.tests !== undefined ? hasTestsToRun(item) : matchesFilter(item)) return true;
  }
  return false;
}

function matchesFilter(item) {
  return settings.name === undefined || StringPrototypeIncludes(fullName(item), settings.name);
}

// A failed `beforeAll` fails every test of the group that would have run.
async function failAll(at, mode, failure) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    const inner = excludedByOnly(at, item) ? "skip" : modeOf(item, mode);
    if (item.tests !== undefined) await failAll(item, inner, failure);
    else if (inner !== "run") await runTest(item, inner);
    else if (matchesFilter(item)) await reportEnd(fullName(item), "failed", 0, failure);
  }
}

async function runTest(item, mode) {
  const name = fullName(item);
  if (!matchesFilter(item)) return;
  if (mode !== "run") {
    await reportEnd(name, mode === "todo" ? "todo" : "skipped", 0, undefined);
    return;
  }
  const timeoutMs = item.timeoutMs ?? settings.timeoutMs;
  const before = hooksFor(item.group, "beforeEach");
  const after = hooksFor(item.group, "afterEach");
  await begin(name, timeoutMs * (1 + before.length + after.length));
  const began = DateNow();
  setSnapshotTest(name);
  enterTest();
  beginTest();
  let failure;
  for (let i = 0; i < before.length; i++) {
    failure ??= await attempt(before[i], timeoutMs, "beforeEach");
  }
  failure ??= await attempt(item.body, timeoutMs, "the test");
  for (let i = 0; i < after.length; i++) {
    const late = await attempt(after[i], timeoutMs, "afterEach");
    failure ??= late;
  }
  endTest();
  await leaveTest();
  failure = withUncaught(failure, await uncaught());
  setSnapshotTest(undefined);
  await reportEnd(name, failure === undefined ? "passed" : "failed", DateNow() - began, failure);
}

// `beforeEach` hooks run from the outermost group inwards, `afterEach` hooks from the innermost
// out.
function hooksFor(at, name) {
  const groups = list();
  for (let here = at; here !== null; here = here.parent) {
    if (name === "beforeEach") ArrayPrototypeUnshift(groups, here);
    else ArrayPrototypePush(groups, here);
  }
  const bodies = list();
  for (let i = 0; i < groups.length; i++) {
    for (let j = 0; j < groups[i][name].length; j++) {
      ArrayPrototypePush(bodies, groups[i][name][j]);
    }
  }
  return bodies;
}

// The broker enforces the timeout as well: an endless loop keeps the timer of `attempt` from
// firing.
async function begin(name, timeoutMs) {
  await sendToHarness({ __proto__: null, began: { __proto__: null, name, timeoutMs } });
  setCurrentTest(name);
}

// A rejection is known to be unhandled only after everything that is ready has run.
async function uncaught() {
  await op_void_async_deferred();
  return takeUncaught();
}

// Merges failures into one description: the first one, with the messages of the others appended.
function withUncaught(failure, others) {
  if (others.length === 0) return failure;
  const all = JSONParse(failure ?? others[0]);
  for (let i = failure === undefined ? 1 : 0; i < others.length; i++) {
    const { message, stack } = JSONParse(others[i]);
    const position = RegExpPrototypeExec(POSITION, stack ?? "");
    all.message += `\n\nalso uncaught: ${message}${position === null ? "" : ` (${position[1]})`}`;
  }
  return JSONStringify(all);
}

function describeFailure(thrown) {
  const description = JSONParse(describeThrown(thrown));
  const name = RegExpPrototypeExec(UNDEFINED_NAME, description.message)?.[1];
  if (name in GLOBALS_ELSEWHERE) {
    const names = name === "test" ? "test, expect" : name;
    description.message += `; write import { ${names} } from "pml/test"`;
  }
  return JSONStringify(description);
}

// Runs a function and returns the description of its failure, or undefined. The timeout is in real
// time, even if the test uses a virtual clock.
async function attempt(body, timeoutMs, what) {
  let timer;
  try {
    await new Promise((resolve, reject) => {
      timer = realTimers.setTimeout(
        () => reject(new AssertionError(`${what} took longer than ${timeoutMs} ms`, attempt)),
        timeoutMs,
      );
      PromisePrototypeThen(invoke(body), resolve, reject);
    });
    return undefined;
  } catch (thrown) {
    return describeFailure(thrown);
  } finally {
    realTimers.clearTimeout(timer);
  }
}

async function invoke(body) {
  await body();
}

async function reportEnd(name, status, ms, failure) {
  await sendToHarness({
    __proto__: null,
    ended: {
      __proto__: null,
      name,
      status,
      ms,
      fault: failure === undefined ? undefined : JSONParse(failure),
    },
  });
}

export { runTests };
