// The virtual clock: deterministic time and randomness for recordings, replays and tests. It
// replaces `Date`, `Temporal.Now`, `performance`, timers and random numbers, and restores them.

import { primordials } from "ext:core/mod.js";
import {
  defineGlobal,
  replaceClock,
  replaceRandomFill,
  restoreClockAndRandom,
} from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { fillSeeded, resetSeed, seedFromNumber } from "ext:pml/35_random.js";
import {
  addTimer,
  readClock,
  startTimers,
  stopTimers,
  timerGlobals,
} from "ext:pml/42_timers.js";

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
  WeakMap,
  WeakMapPrototypeGet,
  WeakMapPrototypeSet,
} = primordials;

// Intrinsics of `Temporal`, which the primordials do not include and V8 creates only after it has
// started from the snapshot.
let temporal;
// Web classes and methods, captured before a script can replace them.
let web;
// Methods of `Intl.DateTimeFormat` that read the clock if they get no date.
let intl;

// Called before any code of the script, and not for the snapshot: V8 makes `Intl` anew when it starts.
function captureIntl() {
  if (intl !== undefined) return;
  const { prototype } = globalThis.Intl.DateTimeFormat;
  const { get } = ObjectGetOwnPropertyDescriptor(prototype, "format");
  intl = { __proto__: null, prototype, format: get, formatToParts: prototype.formatToParts };
}

function captureWebGlobals() {
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

// The global `Temporal` while a script must not see it.
let hiddenTemporal;

// Called before any code of the script: in a worker that waits for one, for tests, and for scripts with a
// virtual clock that name `Temporal`. V8 creates it on first access, which takes longer than a short script.
function captureTemporal() {
  if (temporal !== undefined) return;
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

// For a script that does not name `Temporal`: one that puts the name together finds nothing, and no real
// time.
function hideTemporal() {
  if (hiddenTemporal !== undefined) return;
  if (temporal !== undefined) hiddenTemporal = globalThis.Temporal;
  ReflectDeleteProperty(globalThis, "Temporal");
}

function showTemporal() {
  if (hiddenTemporal === undefined) return;
  defineGlobal(globalThis, "Temporal", hiddenTemporal);
  hiddenTemporal = undefined;
}

let active = false;
// Whether the clock was installed before its run was known, and no script has run since.
let isAhead = false;
let startMs = 0;

// ---- replaced properties, and their restoration

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

function replaceGetter(object, name, get) {
  ArrayPrototypePush(replaced, {
    __proto__: null,
    object,
    name,
    descriptor: ObjectGetOwnPropertyDescriptor(object, name),
  });
  ObjectDefineProperty(object, name, {
    __proto__: null,
    get,
    set: undefined,
    enumerable: false,
    configurable: true,
  });
}

function restoreReplaced() {
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

// ---- Date, Temporal.Now and performance

function installDate() {
  const epoch = () => MathFloor(readClock());
  replaceClock(() => readClock() - startMs, epoch);

  function date(...values) {
    if (new.target === undefined) return DatePrototypeToString(new Date(epoch()));
    const dateArgs = values.length === 0 ? [epoch()] : values;
    return ReflectConstruct(Date, dateArgs, new.target === date ? Date : new.target);
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

  captureIntl();
  installIntl(epoch);
  if (temporal === undefined) return;
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

// `new Intl.DateTimeFormat().format()` is about now.
function installIntl(epoch) {
  const { prototype, format, formatToParts } = intl;
  const moment = (date) => date === undefined ? epoch() : date;
  const parts = {
    formatToParts(date) {
      return ReflectApply(formatToParts, this, [moment(date)]);
    },
  };
  replace(prototype, "formatToParts", parts.formatToParts);
  // A getter, of which each object has one function: equal ones are expected.
  const bound = new WeakMap();
  replaceGetter(prototype, "format", function () {
    let virtual = WeakMapPrototypeGet(bound, this);
    if (virtual === undefined) {
      const real = ReflectApply(format, this, []);
      virtual = (date) => real(moment(date));
      WeakMapPrototypeSet(bound, this, virtual);
    }
    return virtual;
  });
}

// `AbortSignal.timeout` by the virtual clock.
function abortAfter(ms) {
  const wait = Number(ms);
  if (!(wait >= 0)) throw new TypeError("AbortSignal.timeout needs a number of milliseconds");
  const { AbortController, DOMException, abort, signal } = web;
  const controller = new AbortController();
  const reason = new DOMException("Signal timed out.", "TimeoutError");
  const fire = () => ReflectApply(abort, controller, [reason]);
  addTimer(fire, wait, [], { __proto__: null, unref: true });
  return ReflectApply(signal, controller, []);
}

// See `mode` in 42_timers.js.
const TIMER_MODE = { __proto__: null, wait: "wait", skip: "skip", hold: "hold" };

function installVirtualClock(
  seed,
  time,
  timerMode,
  skipUntil = Infinity,
  slept = 0,
  durable = false,
) {
  if (!isAhead) {
    removeVirtualClock();
    replaceGlobals();
  }
  isAhead = false;
  active = true;
  startMs = time;
  seedFromNumber(seed);
  if (!durable) replaceRandomFill(fillSeeded);
  startTimers(time, timerMode, skipUntil, slept);
}

function replaceGlobals() {
  installDate();
  const timers = timerGlobals();
  for (const name in timers) replace(globalThis, name, timers[name]);
  replace(web.AbortSignal, "timeout", { timeout: abortAfter }.timeout);
}

// Installs the clock of a run that is not known yet, so that the run has only to set it: replacing globals
// takes a third as long as a short script.
function installAhead() {
  removeVirtualClock();
  captureTemporal();
  replaceGlobals();
  hideTemporal();
  isAhead = true;
  active = true;
}

// Restores real time and randomness. Pending timers of the virtual clock never fire.
function removeVirtualClock() {
  if (!active) return;
  active = false;
  isAhead = false;
  stopTimers();
  restoreClockAndRandom();
  resetSeed();
  restoreReplaced();
  showTemporal();
}

export {
  captureIntl,
  captureTemporal,
  captureWebGlobals,
  hideTemporal,
  installAhead,
  installVirtualClock,
  removeVirtualClock,
  showTemporal,
  TIMER_MODE,
};
