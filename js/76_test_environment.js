// `useRecording`, `fakeTime` and `runScript`: the environment in which a test runs a script.

import { primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_serialize.js";
import { args as scriptArgs } from "ext:pml/40_tools.js";
import { sendToHarness } from "ext:pml/41_harness.js";
import { advance, drain, moveTo, now } from "ext:pml/42_timers.js";
import {
  installVirtualClock,
  removeVirtualClock,
  TIMER_MODE,
} from "ext:pml/45_virtual_clock.js";
import { isFunctionToCall } from "ext:pml/60_result.js";

const {
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  Date,
  DateNow,
  DatePrototypeGetTime,
  Error,
  JSONParse,
  NumberIsFinite,
  ObjectFreeze,
  RangeError,
  SafeArrayIterator,
  String,
  StringPrototypeStartsWith,
  TypeError,
} = primordials;

const MAX_TIMERS = 10_000;

// Whether a test or one of its `beforeEach` and `afterEach` hooks is running.
let inTest = false;
let replaying = false;

function enterTest() {
  inTest = true;
}

// Undoes `fakeTime` and `useRecording`.
async function leaveTest() {
  inTest = false;
  removeVirtualClock();
  if (!replaying) return;
  replaying = false;
  await sendToHarness({ __proto__: null, useRecording: null });
}

async function useRecording(path) {
  if (typeof path !== "string" || path === "") {
    throw new TypeError("useRecording needs the path of a recording, relative to the test's file");
  }
  if (!inTest) throw new Error("useRecording must be called inside a test or beforeEach");
  const { seed, timeMs } = await sendToHarness({ __proto__: null, useRecording: path });
  replaying = true;
  installVirtualClock(seed, timeMs, TIMER_MODE.skip);
}

function parseTime(start) {
  const time = start === undefined
    ? DateNow()
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
  installVirtualClock(options?.seed ?? 1, parseTime(start), TIMER_MODE.hold);
  return ObjectFreeze({
    get now() {
      return now();
    },
    set(time) {
      moveTo(parseTime(time));
    },
    advance(ms) {
      checkMs(ms, "advance");
      return advance(ms);
    },
    runAll() {
      return drain(MAX_TIMERS);
    },
    restore() {
      removeVirtualClock();
    },
  });
}

// ---- runs a script as `pml run` does

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

export { enterTest, fakeTime, leaveTest, runScript, useRecording };
