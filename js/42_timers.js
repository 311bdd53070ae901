// Timers that can be had again, and the clock that only they move.
//
// The clock stands still while the script computes and while a request is under way; a timer
// moves it to the moment the timer was set for. A millionth of a second passes with each look at
// it, so that a loop that waits for the time to pass comes to an end.
//
// The broker hears where the clock stands. A recording keeps how far it moved while an answer was
// awaited, and a replay gives that answer after the same timers as before.

import { core, primordials } from "ext:core/mod.js";
import { checkCallback, realTimers } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { trackRequests } from "ext:pml/40_tools.js";
import { tell } from "ext:pml/41_harness.js";

const {
  ArrayPrototypeSplice,
  MathFloor,
  MathMax,
  Number,
  NumberIsFinite,
  Promise,
  PromisePrototypeThen,
  RangeError,
  ReflectApply,
} = primordials;

const { unrefTimer } = core.loadExtScript("ext:deno_web/02_timers.js");

const LOOK_MS = 0.001;
const LONGEST_DELAY_MS = 2 ** 31 - 1;
const ONCE = { __proto__: null };
const REPEATS = { __proto__: null, repeats: true };

let nowMs = 0;

function look() {
  nowMs += LOOK_MS;
  return nowMs;
}

let lastTimer = 0;
let underWay = 0;
let pumping = false;
// Counts the worlds: what was asked in one is not answered in the next.
let world = 0;
// "wait": timers take their time. "skip": the next one fires when nothing else is left to do.
// "hold": only `advance` fires them.
let mode = "wait";
// In the order in which they are due.
const timers = list();

// A quiet timer does not keep a script going that has nothing else to do.
function addTimer(callback, delay, values, { repeats = false, quiet = false }) {
  const given = Number(delay);
  const wait = NumberIsFinite(given) && given > 0 && given <= LONGEST_DELAY_MS
    ? MathFloor(given)
    : 0;
  const id = ++lastTimer;
  schedule({ __proto__: null, id, callback, values, wait, repeats, quiet, at: 0 });
  return id;
}

function schedule(timer) {
  timer.at = nowMs + (timer.repeats ? MathMax(timer.wait, 1) : timer.wait);
  let place = timers.length;
  while (place > 0 && timers[place - 1].at > timer.at) place--;
  ArrayPrototypeSplice(timers, place, 0, timer);
  if (mode === "wait") waitFor(timer, timer.wait);
  else pump();
}

function waitFor(timer, ms) {
  timer.real = realTimers.setTimeout(() => elapsed(timer), ms);
  if (timer.quiet) unrefTimer(timer.real);
}

// Timers fire in the order of the clock. It is behind the real time by what requests took, so a
// timer that was set later may be due earlier: what it lets the script do comes first.
function elapsed(timer) {
  if (timers[0].at < timer.at) {
    waitFor(timer, 0);
    fire(timers[0]);
  } else {
    fire(timer);
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
  moveTo(MathMax(nowMs, timer.at));
  if (timer.repeats) schedule(timer);
  ReflectApply(timer.callback, globalThis, timer.values);
}

// Messages arrive in the order in which they leave: the broker knows the time of each request.
function moveTo(time) {
  nowMs = time;
  stalls = 0;
  watchStall();
  PromisePrototypeThen(tell({ __proto__: null, clock: nowMs }), undefined, () => {});
}

// How many of the requests under way have an answer that waits for the clock. The earliest of
// them comes now if it is due before the next timer.
async function heldUntil(next) {
  try {
    return await tell({ __proto__: null, idle: next }) ?? 0;
  } catch {
    return 0;
  }
}

// A real timer of no length comes after everything that is ready to run. If no request is under
// way then, or only such whose answers wait for the clock, nothing but the clock can bring the
// script on.
function pump() {
  if (mode !== "skip" || pumping || !hasWork()) return;
  pumping = true;
  realTimers.setTimeout(step, 0);
}

// What a timer lets the script do may have been a request, made after the pump was set going.
function step() {
  if (underWay > 0) inquire();
  else fireNext();
}

function hasWork() {
  if (underWay > 0) return timers.length > 0;
  for (let i = 0; i < timers.length; i++) {
    if (!timers[i].quiet) return true;
  }
  return false;
}

async function inquire() {
  const asked = world;
  const held = await heldUntil(timers.length > 0 ? timers[0].at : null);
  if (asked !== world) return;
  pumping = false;
  // Otherwise an answer is on its way, and its arrival pumps again.
  if (underWay > 0 && underWay > held && stalls < MOST_STALLS) return;
  pumping = true;
  // Not here: what a timer throws must not become the rejection of a promise.
  realTimers.setTimeout(fireNext, 0);
}

function fireNext() {
  pumping = false;
  if (mode !== "skip" || timers.length === 0) return;
  try {
    fire(timers[0]);
  } finally {
    pump();
  }
}

// Requests that stay under way for longer than the broker needs for any answer it has: one of them
// waits for a clock that nothing moves any more, or for its turn behind those that do.
const STALL_MS = 20;
const MOST_STALLS = 10;
let stalls = 0;
let stallTimer;

function watchStall() {
  if (stallTimer !== undefined) realTimers.clearTimeout(stallTimer);
  stallTimer = underWay > 0 ? realTimers.setTimeout(stalled, STALL_MS) : undefined;
}

async function stalled() {
  stallTimer = undefined;
  stalls++;
  if (timers.length === 0) {
    await heldUntil(null);
  } else if (mode === "skip") {
    pump();
    watchStall();
  }
}

// Listens to the requests of the script from now on, and says how it sets its timers.
function startTimers(time, sleep) {
  world++;
  underWay = 0;
  pumping = false;
  stalls = 0;
  nowMs = time;
  mode = sleep;
  const here = world;
  const ended = () => {
    if (here !== world) return;
    underWay--;
    stalls = 0;
    watchStall();
    pump();
  };
  trackRequests((request) => {
    underWay++;
    if (underWay === 1) watchStall();
    PromisePrototypeThen(request, ended, ended);
    return request;
  });
  return {
    __proto__: null,
    clearInterval: (id = 0) => removeTimer(Number(id)),
    clearTimeout: (id = 0) => removeTimer(Number(id)),
    setInterval: (callback, delay = 0, ...values) => {
      checkCallback(callback, "setInterval");
      return addTimer(callback, delay, values, REPEATS);
    },
    setTimeout: (callback, delay = 0, ...values) => {
      checkCallback(callback, "setTimeout");
      return addTimer(callback, delay, values, ONCE);
    },
  };
}

// Timers that are left never fire.
function stopTimers() {
  world++;
  underWay = 0;
  watchStall();
  while (timers.length > 0) removeTimer(timers[0].id);
  trackRequests((request) => request);
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
  moveTo(MathMax(nowMs, until));
  await settle();
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

// Everything that is ready has run, and no request is under way but those whose answers wait for
// the clock.
async function settle() {
  do {
    await new Promise((resolve) => realTimers.setTimeout(() => resolve(undefined), 0));
  } while (underWay > 0 && underWay > await heldUntil(nowMs));
}

function now() {
  return MathFloor(nowMs);
}

export {
  addTimer,
  advance,
  drain,
  look,
  moveTo,
  now,
  startTimers,
  stopTimers,
};
