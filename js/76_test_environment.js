// What a test can put around the script it is about: recorded answers, a clock of its own, and the
// way `pml run` runs it.

import { primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_serialize.js";
import { args as scriptArgs } from "ext:pml/40_tools.js";
import { tell } from "ext:pml/41_harness.js";
import { advance, drain, moveTo, now } from "ext:pml/42_timers.js";
import { enterWorld, leaveWorld, SLEEP } from "ext:pml/45_virtual_clock.js";
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

// Whether a test, or what comes before and after it, runs now.
let inTest = false;
let replaying = false;

function enterTest() {
  inTest = true;
}

// Whatever a test put around itself ends with it.
async function leaveTest() {
  inTest = false;
  leaveWorld();
  if (!replaying) return;
  replaying = false;
  await tell({ __proto__: null, useRecording: null });
}

async function useRecording(path) {
  if (typeof path !== "string" || path === "") {
    throw new TypeError("useRecording needs the path of a recording, relative to the test's file");
  }
  if (!inTest) throw new Error("useRecording belongs inside a test or beforeEach");
  const { seed, timeMs } = await tell({ __proto__: null, useRecording: path });
  replaying = true;
  enterWorld(seed, timeMs, SLEEP.skip);
}

function moment(start) {
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
  enterWorld(options?.seed ?? 1, moment(start), SLEEP.hold);
  return ObjectFreeze({
    get now() {
      return now();
    },
    set(time) {
      moveTo(moment(time));
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

export { enterTest, fakeTime, leaveTest, runScript, useRecording };
