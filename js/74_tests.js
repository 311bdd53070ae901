// Tests: they are collected while the file runs, and run one after the other when it has.

import { primordials } from "ext:core/mod.js";
import { op_harness } from "ext:core/ops";
import { realTimers } from "ext:pml/10_web.js";
import { list, toJson } from "ext:pml/30_plain.js";
import { args as scriptArgs, ToolError } from "ext:pml/40_tools.js";
import {
  advance,
  drain,
  enterWorld,
  leaveWorld,
  now,
  setNow,
  SLEEP,
} from "ext:pml/45_world.js";
import { describe as describeFault } from "ext:pml/55_fault.js";
import { isFunctionToCall } from "ext:pml/60_result.js";
import { AssertionError, connect } from "ext:pml/72_expect.js";
import { beginTest, endTest, startMocking } from "ext:pml/73_mocks.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  ArrayPrototypeUnshift,
  Date,
  DateNow,
  DatePrototypeGetTime,
  Error,
  JSONParse,
  JSONStringify,
  NumberIsFinite,
  ObjectFreeze,
  ObjectHasOwn,
  Promise,
  PromisePrototypeThen,
  RangeError,
  ReflectApply,
  SafeArrayIterator,
  String,
  StringPrototypeIncludes,
  StringPrototypeReplace,
  StringPrototypeStartsWith,
  TypeError,
} = primordials;

const HOOKS = ["beforeAll", "afterAll", "beforeEach", "afterEach"];
const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMERS = 10_000;
const SEPARATOR = " > ";

function group(name, parent, flags) {
  return {
    __proto__: null,
    name,
    parent,
    flags,
    tests: list(),
    beforeAll: list(),
    afterAll: list(),
    beforeEach: list(),
    afterEach: list(),
    hasOnly: false,
  };
}

const file = group("", null, { __proto__: null });
let current = file;
let collecting = true;
let settings = { __proto__: null, timeoutMs: DEFAULT_TIMEOUT_MS, snapshots: {} };
// The test that runs now, for snapshots and recordings.
let running = null;

// ---- what the file says

function declare(what, flags, name, second, third) {
  if (!collecting) {
    throw new Error(`${what} must be called while the file is read, not inside a test`);
  }
  const [body, options] = typeof second === "function" ? [second, third] : [third, second];
  const title = String(name);
  if (typeof body !== "function" && !flags.todo) {
    throw new TypeError(`${what}("${title}") needs a function`);
  }
  const timeoutMs = typeof options === "number" ? options : options?.timeout;
  if (timeoutMs !== undefined && !(NumberIsFinite(timeoutMs) && timeoutMs > 0)) {
    throw new RangeError(`${what}("${title}") takes a timeout in milliseconds`);
  }
  return { __proto__: null, title, body, timeoutMs };
}

function addTest(flags, name, second, third) {
  const { title, body, timeoutMs } = declare("test", flags, name, second, third);
  ArrayPrototypePush(current.tests, {
    __proto__: null,
    name: title,
    body,
    timeoutMs,
    flags,
    group: current,
  });
  if (flags.only) markOnly(current);
}

function addGroup(flags, name, second, third) {
  const { title, body } = declare("describe", flags, name, second, third);
  const inner = group(title, current, flags);
  ArrayPrototypePush(current.tests, inner);
  if (flags.only) markOnly(current);
  current = inner;
  let result;
  try {
    result = body();
  } finally {
    current = inner.parent;
  }
  if (typeof result?.then === "function") {
    throw new TypeError(`describe("${title}") takes a plain function; its tests may be async`);
  }
}

function markOnly(at) {
  for (let here = at; here !== null; here = here.parent) here.hasOnly = true;
}

function declarer(add) {
  const plain = { __proto__: null };
  const declarations = (name, second, third) => add(plain, name, second, third);
  for (const flag of new SafeArrayIterator(["only", "skip", "todo"])) {
    const flags = { __proto__: null, [flag]: true };
    declarations[flag] = (name, second, third) => add(flags, name, second, third);
    declarations[flag].each = each(flags, add);
  }
  declarations.each = each(plain, add);
  return declarations;
}

// `test.each([[1, 2], [3, 4]])("%s and %s", (a, b) => ...)`
function each(flags, add) {
  return (cases) => (name, body, options) => {
    for (const values of new SafeArrayIterator(ArrayPrototypeSlice(cases))) {
      const given = ArrayIsArray(values) ? values : [values];
      let title = String(name);
      for (const value of new SafeArrayIterator(given)) {
        const text = typeof value === "object" ? JSONStringify(value) : String(value);
        title = StringPrototypeReplace(title, "%s", () => text);
      }
      add(flags, title, () => ReflectApply(body, undefined, given), options);
    }
  };
}

const test = declarer(addTest);
const describe = declarer(addGroup);

const hooks = { __proto__: null };
for (const name of new SafeArrayIterator(HOOKS)) {
  hooks[name] = (body) => {
    if (!collecting) throw new Error(`${name} must be called outside of tests`);
    if (typeof body !== "function") throw new TypeError(`${name} needs a function`);
    ArrayPrototypePush(current[name], body);
  };
}

// ---- what the harness is told

async function tell(message) {
  const answer = JSONParse(await op_harness(JSONStringify(message)));
  if (ObjectHasOwn(answer, "failure")) throw new ToolError("pml/test", answer.failure);
  return answer.value;
}

function fullName(at) {
  const names = list();
  for (let here = at; here !== null; here = here.group ?? here.parent) {
    if (here.name !== "") ArrayPrototypeUnshift(names, here.name);
  }
  let text = "";
  for (let i = 0; i < names.length; i++) text += (i > 0 ? SEPARATOR : "") + names[i];
  return text;
}

// ---- running

async function runTests(script, settingsText) {
  settings = JSONParse(settingsText);
  startMocking();
  try {
    await script();
    collecting = false;
    await runGroup(file, verdictOf(file, "run"));
    return [undefined, undefined];
  } catch (thrown) {
    return [undefined, describeFault(thrown)];
  }
}

// `run`, `skip` or `todo`, given the verdict about what contains it.
function verdictOf(at, above) {
  const { flags } = at;
  if (above === "todo" || flags.todo) return "todo";
  if (above === "skip" || flags.skip) return "skip";
  return "run";
}

async function runGroup(at, verdict) {
  const runs = verdict === "run" && hasRunning(at, false);
  if (runs) {
    for (let i = 0; i < at.beforeAll.length; i++) {
      const fault = await attempt(at.beforeAll[i], settings.timeoutMs, "beforeAll");
      if (fault !== undefined) {
        await failAll(at, fault);
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
      const fault = await attempt(at.afterAll[i], settings.timeoutMs, "afterAll");
      if (fault !== undefined) {
        await ended(`${fullName(at)}${at === file ? "" : SEPARATOR}afterAll`, "failed", 0, fault);
      }
    }
  }
}

// Whether something beside this was marked `only`.
function hidden(parent, item) {
  if (!parent.hasOnly || item.flags.only || item.hasOnly) return false;
  // A group marked `only` whose tests are not marked runs all of them.
  for (let here = parent; here !== null; here = here.parent) {
    if (here.flags.only && !anyOnly(here)) return false;
  }
  return true;
}

function anyOnly(at) {
  for (let i = 0; i < at.tests.length; i++) {
    if (at.tests[i].flags.only || at.tests[i].hasOnly) return true;
  }
  return false;
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

async function failAll(at, fault) {
  for (let i = 0; i < at.tests.length; i++) {
    const item = at.tests[i];
    if (item.tests !== undefined) await failAll(item, fault);
    else await ended(fullName(item), "failed", 0, fault);
  }
}

async function runTest(item, verdict) {
  const name = fullName(item);
  if (!wanted(item)) return;
  if (verdict !== "run") {
    await ended(name, verdict === "todo" ? "todo" : "skipped", 0, undefined);
    return;
  }
  await tell({ __proto__: null, began: name });
  running = { __proto__: null, name, snapshots: 0 };
  const timeoutMs = item.timeoutMs ?? settings.timeoutMs;
  const began = clock();
  beginTest();
  let fault = await runHooks(item.group, "beforeEach", timeoutMs);
  fault ??= await attempt(item.body, timeoutMs, "the test");
  const late = await runHooks(item.group, "afterEach", timeoutMs);
  fault ??= late;
  endTest();
  await leaveEverything();
  running = null;
  await ended(name, fault === undefined ? "passed" : "failed", clock() - began, fault);
}

// Outer ones first on the way in, inner ones first on the way out.
async function runHooks(at, name, timeoutMs) {
  const groups = list();
  for (let here = at; here !== null; here = here.parent) ArrayPrototypeUnshift(groups, here);
  let first;
  for (let i = 0; i < groups.length; i++) {
    const inner = name === "beforeEach" ? groups[i] : groups[groups.length - 1 - i];
    for (let j = 0; j < inner[name].length; j++) {
      const fault = await attempt(inner[name][j], timeoutMs, name);
      first ??= fault;
      if (fault !== undefined && name === "beforeEach") return first;
    }
  }
  return first;
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

function clock() {
  return DateNow();
}

// ---- snapshots

function matchSnapshot(actual, hint) {
  if (running === null) throw new Error("toMatchSnapshot belongs inside a test");
  running.snapshots++;
  const name = hint === undefined
    ? `${running.name} ${running.snapshots}`
    : `${running.name}: ${String(hint)}`;
  const known = ObjectHasOwn(settings.snapshots, name);
  const expected = known ? settings.snapshots[name] : undefined;
  const write = settings.update === "all" || (settings.update === "new" && !known);
  const pass = (known && expected === actual) || write;
  // Not awaited: the message leaves at once, and the harness answers in order.
  PromisePrototypeThen(
    tell({
      __proto__: null,
      snapshot: { __proto__: null, name, text: write ? actual : undefined },
    }),
    undefined,
    () => {},
  );
  return { __proto__: null, pass, name, missing: !known, expected, actual };
}

connect({ __proto__: null, matchSnapshot });

// ---- recordings and time

let replaying = false;

async function useRecording(path) {
  if (typeof path !== "string" || path === "") {
    throw new TypeError("useRecording needs the path of a recording, relative to the test's file");
  }
  if (running === null) throw new Error("useRecording belongs inside a test or beforeEach");
  const { seed, timeMs } = await tell({ __proto__: null, useRecording: path });
  replaying = true;
  enterWorld(seed, timeMs, SLEEP.skip);
}

function moment(start) {
  const time = start === undefined
    ? clock()
    : typeof start === "number"
    ? start
    : DatePrototypeGetTime(new Date(start));
  if (!NumberIsFinite(time)) throw new RangeError("fakeTime needs a time, such as 2026-01-01");
  return time;
}

function checkMs(ms, what) {
  if (typeof ms !== "number" || !(ms >= 0) || !NumberIsFinite(ms)) {
    throw new RangeError(`${what} needs a number of milliseconds`);
  }
}

function fakeTime(start = undefined, options = undefined) {
  enterWorld(options?.seed ?? 1, moment(start), SLEEP.hold);
  return ObjectFreeze({
    get now() {
      return now();
    },
    set(time) {
      setNow(moment(time));
    },
    advance(ms) {
      checkMs(ms, "advance");
      return advance(ms);
    },
    runAll() {
      return drain(MAX_TIMERS);
    },
    restore() {
      leaveWorld();
    },
  });
}

async function leaveEverything() {
  leaveWorld();
  if (!replaying) return;
  replaying = false;
  await tell({ __proto__: null, useRecording: null });
}

// ---- running a script as `pml run` does

async function runScript(path, options = undefined) {
  if (typeof path !== "string" || !StringPrototypeStartsWith(path, ".")) {
    throw new TypeError('runScript needs a path relative to the test, such as "./audit.ts"');
  }
  const script = (await import(`${path}?script`)).default;
  const before = ArrayPrototypeSlice(scriptArgs);
  setArgs(options?.args ?? []);
  try {
    let value = await script();
    if (isFunctionToCall(value)) value = await value();
    const json = await toJson(value, "the result");
    return json === undefined ? undefined : JSONParse(json);
  } finally {
    setArgs(before);
  }
}

function setArgs(values) {
  scriptArgs.length = 0;
  for (const value of new SafeArrayIterator(values)) {
    ArrayPrototypePush(scriptArgs, String(value));
  }
}

const { afterAll, afterEach, beforeAll, beforeEach } = hooks;

export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  fakeTime,
  runScript,
  runTests,
  test,
  useRecording,
};
