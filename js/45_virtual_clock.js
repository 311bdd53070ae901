// A world of its own for a script: time that can be had again, and chance that can be had again.

import { primordials } from "ext:core/mod.js";
import { defineGlobal, replaceClock, replaceEntropy, restoreClock } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { fill, forgetSeed, seedFromNumber } from "ext:pml/35_random.js";
import { addTimer, look, startTimers, stopTimers } from "ext:pml/42_timers.js";

const {
  ArrayPrototypePop,
  ArrayPrototypePush,
  Date,
  DatePrototype,
  DatePrototypeToString,
  MathFloor,
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
}

// Before any code of a script: V8 makes `Temporal` when it is first asked for, which takes long.
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

let inside = false;
let startMs = 0;

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
  seedFromNumber(seed);
  replaceEntropy(fill);
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
  forgetSeed();
  putBack();
}

export { captureGlobals, captureTemporal, enterWorld, leaveWorld, SLEEP };
