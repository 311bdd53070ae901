// Runs the tests of a file one after the other, and says what became of each.

import { primordials } from "ext:core/mod.js";
import { op_void_async_deferred } from "ext:core/ops";
import { realTimers } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { tell } from "ext:pml/41_harness.js";
import { describe } from "ext:pml/55_errors.js";
import { pair, takeUncaught, watchTest } from "ext:pml/60_result.js";
import { AssertionError } from "ext:pml/72_expect.js";
import { beginTest, endTest, startMocking } from "ext:pml/73_mocks.js";
import {
  endCollecting,
  file,
  fullName,
  hidden,
  SEPARATOR,
  verdictOf,
} from "ext:pml/74_declare.js";
import { keepSnapshots, snapshotsOf } from "ext:pml/75_snapshots.js";
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

// What "pml/test" exports and other runners have as globals.
const IMPORTED = {
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
const UNDEFINED = new SafeRegExp(/^ReferenceError: (\w+) is not defined$/);
const PLACE = new SafeRegExp(/file:\/\/\/(\S+:\d+:\d+)/);

let settings;

async function runTests(script, settingsText) {
  settings = JSONParse(settingsText);
  keepSnapshots(settings.snapshots, settings.update);
  startMocking();
  try {
    await script();
    endCollecting();
    if (file.hasOnly && !settings.allowOnly) {
      throw new Error("a test is marked `only`, and CI is to run all of them; take the mark away");
    }
    const names = list();
    collectNames(file, names);
    await tell({ __proto__: null, planned: names });
    await runGroup(file, verdictOf(file, "run"));
    return pair(undefined, undefined);
  } catch (thrown) {
    return pair(undefined, describeFault(thrown));
  }
}

// Every test that is about to run or to be passed over: what ends the worker must not hide those
// behind it.
function collectNames(at, names) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    if (item.tests !== undefined) collectNames(item, names);
    else if (wanted(item)) ArrayPrototypePush(names, fullName(item));
  }
}

async function runGroup(at, verdict) {
  const runs = verdict === "run" && hasRunning(at);
  if (runs) {
    for (let i = 0; i < at.beforeAll.length; i++) {
      const fault = await attemptAround(at, at.beforeAll[i], "beforeAll");
      if (fault !== undefined) {
        await failAll(at, verdict, fault);
        return;
      }
    }
  }
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    const inner = hidden(at, item) ? "skip" : verdictOf(item, verdict);
    if (item.tests !== undefined) await runGroup(item, inner);
    else await runTest(item, inner);
  }
  if (runs) {
    for (let i = at.afterAll.length - 1; i >= 0; i--) {
      const fault = await attemptAround(at, at.afterAll[i], "afterAll");
      if (fault !== undefined) await ended(nameOfHook(at, "afterAll"), "failed", 0, fault);
    }
  }
}

function nameOfHook(at, what) {
  return at === file ? what : fullName(at) + SEPARATOR + what;
}

async function attemptAround(at, body, what) {
  const { timeoutMs } = settings;
  await begin(nameOfHook(at, what), timeoutMs);
  const fault = withUncaught(await attempt(body, timeoutMs, what), await uncaught());
  await tell({ __proto__: null, began: null });
  return fault;
}

function hasRunning(at) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    if (hidden(at, item) || item.flags.skip || item.flags.todo) continue;
    if (item.tests !== undefined ? hasRunning(item) : wanted(item)) return true;
  }
  return false;
}

function wanted(item) {
  return settings.name === undefined || StringPrototypeIncludes(fullName(item), settings.name);
}

// What would have run fails with what came before it.
async function failAll(at, verdict, fault) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    const inner = hidden(at, item) ? "skip" : verdictOf(item, verdict);
    if (item.tests !== undefined) await failAll(item, inner, fault);
    else if (inner !== "run") await runTest(item, inner);
    else if (wanted(item)) await ended(fullName(item), "failed", 0, fault);
  }
}

async function runTest(item, verdict) {
  const name = fullName(item);
  if (!wanted(item)) return;
  if (verdict !== "run") {
    await ended(name, verdict === "todo" ? "todo" : "skipped", 0, undefined);
    return;
  }
  const timeoutMs = item.timeoutMs ?? settings.timeoutMs;
  const before = hooksAround(item.group, "beforeEach");
  const after = hooksAround(item.group, "afterEach");
  await begin(name, timeoutMs * (1 + before.length + after.length));
  const began = DateNow();
  snapshotsOf(name);
  enterTest();
  beginTest();
  let fault;
  for (let i = 0; i < before.length; i++) {
    fault ??= await attempt(before[i], timeoutMs, "beforeEach");
  }
  fault ??= await attempt(item.body, timeoutMs, "the test");
  for (let i = 0; i < after.length; i++) {
    const late = await attempt(after[i], timeoutMs, "afterEach");
    fault ??= late;
  }
  endTest();
  await leaveTest();
  fault = withUncaught(fault, await uncaught());
  snapshotsOf(undefined);
  await ended(name, fault === undefined ? "passed" : "failed", DateNow() - began, fault);
}

// Those of outer groups first on the way in, those of inner groups first on the way out.
function hooksAround(at, name) {
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

// A loop that never ends keeps this side from looking at the time: the broker does then.
async function begin(name, timeoutMs) {
  await tell({ __proto__: null, began: { __proto__: null, name, timeoutMs } });
  watchTest(name);
}

// A rejection is known to be unhandled when everything that is ready has run.
async function uncaught() {
  await op_void_async_deferred();
  return takeUncaught();
}

// The first of them is what failed; the others are told with it.
function withUncaught(fault, others) {
  if (others.length === 0) return fault;
  const all = JSONParse(fault ?? others[0]);
  for (let i = fault === undefined ? 1 : 0; i < others.length; i++) {
    const { message, stack } = JSONParse(others[i]);
    const place = RegExpPrototypeExec(PLACE, stack ?? "");
    all.message += `\n\nand nobody caught: ${message}${place === null ? "" : ` (${place[1]})`}`;
  }
  return JSONStringify(all);
}

function describeFault(thrown) {
  const fault = JSONParse(describe(thrown));
  const name = RegExpPrototypeExec(UNDEFINED, fault.message)?.[1];
  if (name in IMPORTED) {
    const names = name === "test" ? "test, expect" : name;
    fault.message += `; write import { ${names} } from "pml/test"`;
  }
  return JSONStringify(fault);
}

// What a function failed with, described, or undefined. Real time counts, whatever the test does
// to the clock.
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
    return describeFault(thrown);
  } finally {
    realTimers.clearTimeout(timer);
  }
}

async function invoke(body) {
  await body();
}

async function ended(name, status, ms, fault) {
  await tell({
    __proto__: null,
    ended: {
      __proto__: null,
      name,
      status,
      ms,
      fault: fault === undefined ? undefined : JSONParse(fault),
    },
  });
}

export { runTests };
