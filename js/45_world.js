// A world of its own for a script: time that can be had again, and chance that can be had again.
//
// The clock stands still while the script computes and while a request is under way; a timer
// moves it to the moment the timer was set for. A millionth of a second passes with each look at
// it, so that a loop that waits for the time to pass comes to an end.

import { primordials } from "ext:core/mod.js";
import {
  defineGlobal,
  realTimers,
  replaceClock,
  replaceEntropy,
  restoreClock,
} from "ext:pml/10_web.js";
import { list } from "ext:pml/30_plain.js";
import { trackRequests } from "ext:pml/40_tools.js";

const {
  ArrayPrototypePop,
  ArrayPrototypePush,
  ArrayPrototypeSplice,
  Date,
  DatePrototype,
  DatePrototypeToString,
  MathFloor,
  MathImul,
  MathMax,
  Number,
  NumberIsFinite,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectSetPrototypeOf,
  Promise,
  PromisePrototypeThen,
  RangeError,
  ReflectApply,
  ReflectConstruct,
  ReflectDeleteProperty,
  TypeError,
} = primordials;

// What is needed of `Temporal`, which the primordials do not have and V8 makes only when it has
// started from the snapshot.
let temporal;

function captureTemporal() {
  const { Instant, Now, ZonedDateTime } = globalThis.Temporal;
  const { toPlainDate, toPlainDateTime, toPlainTime } = ZonedDateTime.prototype;
  temporal = {
    __proto__: null,
    Instant,
    Now,
    fromEpochMilliseconds: Instant.fromEpochMilliseconds,
    toPlainDate,
    toPlainDateTime,
    toPlainTime,
    toZonedDateTimeISO: Instant.prototype.toZonedDateTimeISO,
  };
}

const LOOK_MS = 0.001;
const LONGEST_DELAY_MS = 2 ** 31 - 1;

let inside = false;
let startMs = 0;
let nowMs = 0;

function look() {
  nowMs += LOOK_MS;
  return nowMs;
}

// ---- chance: a small fast generator, good enough for tests and for nothing else

let a = 0, b = 0, c = 0, d = 1;

function seedChance(seed) {
  a = 0x9e3779b9;
  b = seed | 0;
  c = MathImul(seed, 0x85ebca6b) ^ 0x243f6a88;
  d = 1;
  for (let i = 0; i < 16; i++) next32();
}

function next32() {
  const sum = (a + b + d) | 0;
  d = (d + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = ((c << 21) | (c >>> 11)) + sum | 0;
  return sum >>> 0;
}

function random() {
  // 53 bits, as many as a number between 0 and 1 has.
  return ((next32() >>> 5) * 67108864 + (next32() >>> 6)) / 9007199254740992;
}

function fill(bytes) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = next32() >>> 24;
}

// ---- what is put in place of the script's own, and taken away again

const replaced = list();

function replace(object, name, value) {
  ArrayPrototypePush(replaced, {
    __proto__: null,
    object,
    name,
    descriptor: ObjectGetOwnPropertyDescriptor(object, name),
  });
  defineGlobal(object, name, value);
}

function putBack() {
  while (replaced.length > 0) {
    const { object, name, descriptor } = ArrayPrototypePop(replaced);
    if (descriptor === undefined) {
      ReflectDeleteProperty(object, name);
    } else {
      ObjectSetPrototypeOf(descriptor, null);
      ObjectDefineProperty(object, name, descriptor);
    }
  }
}

// ---- the clock that scripts see

function installClock() {
  const epoch = () => MathFloor(look());
  replaceClock(() => look() - startMs, epoch);

  function date(...values) {
    if (new.target === undefined) return DatePrototypeToString(new Date(epoch()));
    const moment = values.length === 0 ? [epoch()] : values;
    return ReflectConstruct(Date, moment, new.target === date ? Date : new.target);
  }
  defineGlobal(date, "name", "Date");
  defineGlobal(date, "length", 7);
  defineGlobal(date, "now", { now: () => epoch() }.now);
  defineGlobal(date, "parse", Date.parse);
  defineGlobal(date, "UTC", Date.UTC);
  ObjectDefineProperty(date, "prototype", {
    __proto__: null,
    value: DatePrototype,
    writable: false,
    enumerable: false,
    configurable: false,
  });
  replace(DatePrototype, "constructor", date);
  replace(globalThis, "Date", date);

  const { Instant, Now, fromEpochMilliseconds, toZonedDateTimeISO } = temporal;
  const instant = () => ReflectApply(fromEpochMilliseconds, Instant, [epoch()]);
  const zoned = (zone = "UTC") => ReflectApply(toZonedDateTimeISO, instant(), [zone]);
  const part = (method) => (zone) => ReflectApply(method, zoned(zone), []);
  replace(Now, "instant", instant);
  replace(Now, "zonedDateTimeISO", zoned);
  replace(Now, "plainDateTimeISO", part(temporal.toPlainDateTime));
  replace(Now, "plainDateISO", part(temporal.toPlainDate));
  replace(Now, "plainTimeISO", part(temporal.toPlainTime));
}

// ---- timers

let lastTimer = 0;
let underWay = 0;
let pumping = false;
// "wait": timers take their time. "skip": the next one fires when nothing else is left to do.
// "hold": only `advance` fires them.
let mode = "wait";
// In the order in which they are due.
const timers = list();

function addTimer(callback, delay, values, repeats) {
  if (typeof callback !== "function") {
    throw new TypeError("a timer needs a function to call");
  }
  const given = Number(delay);
  const wait = NumberIsFinite(given) && given > 0 && given <= LONGEST_DELAY_MS
    ? MathFloor(given)
    : 0;
  const timer = { __proto__: null, id: ++lastTimer, callback, values, wait, repeats, at: 0 };
  schedule(timer);
  return timer.id;
}

function schedule(timer) {
  timer.at = nowMs + (timer.repeats ? MathMax(timer.wait, 1) : timer.wait);
  let place = timers.length;
  while (place > 0 && timers[place - 1].at > timer.at) place--;
  ArrayPrototypeSplice(timers, place, 0, timer);
  if (mode === "wait") {
    timer.real = realTimers.setTimeout(() => fire(timer), timer.wait);
  } else {
    pump();
  }
}

function removeTimer(id) {
  for (let i = 0; i < timers.length; i++) {
    if (timers[i].id === id) {
      if (timers[i].real !== undefined) realTimers.clearTimeout(timers[i].real);
      ArrayPrototypeSplice(timers, i, 1);
      return;
    }
  }
}

function fire(timer) {
  removeTimer(timer.id);
  nowMs = MathMax(nowMs, timer.at);
  if (timer.repeats) schedule(timer);
  ReflectApply(timer.callback, globalThis, timer.values);
}

// A real timer of no length comes after everything that is ready to run; if no request is under
// way then, only the clock can bring the script on.
function pump() {
  if (mode !== "skip" || pumping || underWay > 0 || timers.length === 0) return;
  pumping = true;
  realTimers.setTimeout(() => {
    pumping = false;
    if (mode !== "skip" || underWay > 0 || timers.length === 0) return;
    try {
      fire(timers[0]);
    } finally {
      pump();
    }
  }, 0);
}

function installTimers() {
  const globals = {
    __proto__: null,
    clearInterval: (id = 0) => removeTimer(Number(id)),
    clearTimeout: (id = 0) => removeTimer(Number(id)),
    setInterval: (callback, delay = 0, ...values) => addTimer(callback, delay, values, true),
    setTimeout: (callback, delay = 0, ...values) => addTimer(callback, delay, values, false),
  };
  for (const name in globals) replace(globalThis, name, globals[name]);
  const ended = () => {
    underWay--;
    pump();
  };
  trackRequests((request) => {
    underWay++;
    PromisePrototypeThen(request, ended, ended);
    return request;
  });
}

// How timers are told to behave; see `mode`.
const SLEEP = { __proto__: null, wait: "wait", skip: "skip", hold: "hold" };

function enterWorld(seed, time, sleep) {
  leaveWorld();
  inside = true;
  startMs = time;
  nowMs = time;
  mode = sleep;
  seedChance(seed);
  replaceEntropy(fill);
  replace(Math, "random", { random: () => random() }.random);
  installClock();
  installTimers();
}

// Back to the real one. Timers of the world that is left never fire.
function leaveWorld() {
  if (!inside) return;
  inside = false;
  while (timers.length > 0) removeTimer(timers[0].id);
  trackRequests((request) => request);
  restoreClock();
  putBack();
}

// Moves a clock that only moves when it is told to, and fires what becomes due. Between two timers
// everything that is ready runs.
async function advance(ms) {
  const until = nowMs + ms;
  await settle();
  while (timers.length > 0 && timers[0].at <= until) {
    fire(timers[0]);
    await settle();
  }
  nowMs = MathMax(nowMs, until);
}

// Fires timers until none is left, or too many were.
async function drain(limit) {
  await settle();
  for (let count = 0; timers.length > 0; count++) {
    if (count === limit) {
      throw new RangeError(`${limit} timers fired and there are still more; is there an interval?`);
    }
    fire(timers[0]);
    await settle();
  }
}

// Everything that is ready has run, and no request is under way.
async function settle() {
  do {
    await new Promise((resolve) => realTimers.setTimeout(() => resolve(undefined), 0));
  } while (underWay > 0);
}

function now() {
  return MathFloor(nowMs);
}

function setNow(time) {
  nowMs = time;
}

export { advance, captureTemporal, drain, enterWorld, leaveWorld, now, setNow, SLEEP };
