// A world of its own for a script: time that can be had again, and chance that can be had again.

import { primordials } from "ext:core/mod.js";
import { defineGlobal, replaceClock, replaceEntropy, restoreClock } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_plain.js";
import { addTimer, look, startTimers, stopTimers } from "ext:pml/42_timers.js";

const {
  ArrayPrototypePop,
  ArrayPrototypePush,
  Date,
  DatePrototype,
  DatePrototypeToString,
  MathFloor,
  MathImul,
  Number,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectSetPrototypeOf,
  ReflectApply,
  ReflectConstruct,
  ReflectDeleteProperty,
  TypeError,
} = primordials;

// What is needed of `Temporal`, which the primordials do not have and V8 makes only when it has
// started from the snapshot; and of what the web brings.
let temporal;
let web;

function captureGlobals() {
  const { AbortController, AbortSignal, DOMException } = globalThis;
  const { get } = ObjectGetOwnPropertyDescriptor(AbortController.prototype, "signal");
  web = {
    __proto__: null,
    AbortController,
    AbortSignal,
    DOMException,
    abort: AbortController.prototype.abort,
    signal: get,
  };
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

let inside = false;
let startMs = 0;

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

// `AbortSignal.timeout`, by the clock of this world.
function abortAfter(ms) {
  const wait = Number(ms);
  if (!(wait >= 0)) throw new TypeError("AbortSignal.timeout needs a number of milliseconds");
  const { AbortController, DOMException, abort, signal } = web;
  const controller = new AbortController();
  const reason = new DOMException("Signal timed out.", "TimeoutError");
  const fire = () => ReflectApply(abort, controller, [reason]);
  addTimer(fire, wait, [], { __proto__: null, quiet: true });
  return ReflectApply(signal, controller, []);
}

// How timers behave; see `mode` in 42_timers.js.
const SLEEP = { __proto__: null, wait: "wait", skip: "skip", hold: "hold" };

function enterWorld(seed, time, sleep) {
  leaveWorld();
  inside = true;
  startMs = time;
  seedChance(seed);
  replaceEntropy(fill);
  replace(Math, "random", { random: () => random() }.random);
  installClock();
  const timers = startTimers(time, sleep);
  for (const name in timers) replace(globalThis, name, timers[name]);
  replace(web.AbortSignal, "timeout", { timeout: abortAfter }.timeout);
}

// Back to the real one. Timers of the world that is left never fire.
function leaveWorld() {
  if (!inside) return;
  inside = false;
  stopTimers();
  restoreClock();
  putBack();
}

export { captureGlobals, enterWorld, leaveWorld, SLEEP };
