// Deterministic timers, and the virtual clock that only they move.
//
// The clock stands still while the script computes and while a request is in flight; a timer that
// fires moves it to the time the timer was due. Each read advances it by one microsecond, so that a
// loop that polls the time terminates.
//
// The broker is sent the time of the clock. A recording stores how far the clock moved while a
// response was pending, and a replay delivers that response after the same timers.

import { core, primordials } from "ext:core/mod.js";
import { checkCallback, realTimers } from "ext:pml/10_web.js";
import { list } from "ext:pml/30_serialize.js";
import { trackRequests } from "ext:pml/39_requests.js";
import { sendToHarness } from "ext:pml/41_harness.js";

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

const READ_STEP_MS = 0.001;
const MAX_DELAY_MS = 2 ** 31 - 1;
const ONCE = { __proto__: null };
const REPEATS = { __proto__: null, repeats: true };

let nowMs = 0;
let running = false;

function readClock() {
  nowMs += READ_STEP_MS;
  return nowMs;
}

let lastTimerId = 0;
// Requests of the script without a response.
let inFlight = 0;
// How often a request was made or answered.
let changes = 0;
// Whether a real timer that will fire the next virtual one is set.
let pumping = false;
// Whether the broker has been told of a timer that is due and has not fired.
let announcing = false;
// Incremented when a clock starts or stops: callbacks of an earlier generation do nothing.
let generation = 0;
// "wait": timers take real time. "skip": the next timer fires as soon as the script is idle.
// "hold": only `advance` and `drain` fire timers.
let mode = "wait";
// "skip" becomes "wait" at the first timer after this virtual time: a resumed run catches up with
// the time at which it was interrupted.
let skipUntil = Infinity;
// The real time that timers after `skipUntil` have waited before the run was resumed.
let sleptMs = 0;
// Sorted by due time.
const timers = list();

// An unref'd timer does not keep an otherwise idle script running.
function addTimer(callback, delay, values, { repeats = false, unref = false }) {
  const given = Number(delay);
  const wait = NumberIsFinite(given) && given > 0 && given <= MAX_DELAY_MS
    ? MathFloor(given)
    : 0;
  const id = ++lastTimerId;
  schedule({ __proto__: null, id, callback, values, wait, repeats, unref, at: 0 });
  return id;
}

function schedule(timer) {
  timer.at = nowMs + (timer.repeats ? MathMax(timer.wait, 1) : timer.wait);
  let index = timers.length;
  while (index > 0 && timers[index - 1].at > timer.at) index--;
  ArrayPrototypeSplice(timers, index, 0, timer);
  if (mode === "wait") waitFor(timer, timer.wait);
  else if (timers[0].at > skipUntil) endCatchUp();
  else pump();
}

function endCatchUp() {
  mode = "wait";
  for (let i = 0; i < timers.length; i++) {
    waitFor(timers[i], MathMax(0, timers[i].at - nowMs - sleptMs));
  }
  sleptMs = 0;
}

function waitFor(timer, ms) {
  timer.real = realTimers.setTimeout(() => elapsed(timer), ms);
  if (timer.unref) unrefTimer(timer.real);
}

// Timers fire in the order of virtual time. The clock lags behind real time by the duration of
// requests, so a timer that was set later may be due earlier; that one fires first.
function elapsed(timer) {
  const next = timers[0].at < timer.at ? timers[0] : timer;
  if (announcing || next !== timer) waitFor(timer, 0);
  if (announcing) return;
  if (inFlight > 0) announce(next);
  else fire(next);
}

// A response that the broker has sent may be on its way. The broker replies when all of them have been
// sent, and holds back the others until the timer has fired (`hosts/src/timer_gate.rs`). So both sides
// see timers and responses in one order.
async function announce(timer) {
  announcing = true;
  const announced = generation;
  try {
    await sendToHarness({ __proto__: null, due: timer.at });
  } catch {
    // The run is ending.
  }
  if (announced !== generation) return;
  // A real timer of 0 ms fires after everything that is ready has run, and an exception in it does not
  // become a promise rejection.
  realTimers.setTimeout(() => {
    if (announced !== generation) return;
    announcing = false;
    if (isPending(timer)) fire(timer);
    else moveTo(nowMs);
  }, 0);
}

function isPending(timer) {
  for (let i = 0; i < timers.length; i++) {
    if (timers[i] === timer) return true;
  }
  return false;
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

// Messages arrive in the order they are sent, so the broker knows the time of each request.
function moveTo(time) {
  nowMs = time;
  stalls = 0;
  watchStall();
  PromisePrototypeThen(sendToHarness({ __proto__: null, clock: nowMs }), undefined, () => {});
}

// Asks the broker how many requests in flight have a response that waits for the clock. The broker
// delivers the earliest of them if it is due before `next`, the time of the next timer.
async function countHeld(next) {
  try {
    return await sendToHarness({ __proto__: null, idle: next }) ?? 0;
  } catch {
    return 0;
  }
}

// A real timer of 0 ms fires after everything that is ready has run. If no request is in flight
// then, or only requests whose responses wait for the clock, only the clock can make progress.
function pump() {
  if (mode !== "skip" || pumping || !hasWork()) return;
  pumping = true;
  realTimers.setTimeout(step, 0);
}

// The script may have sent a request after `pump` was called.
function step() {
  if (inFlight > 0) fireUnlessPending();
  else fireNext();
}

function hasWork() {
  if (inFlight > 0) return timers.length > 0;
  for (let i = 0; i < timers.length; i++) {
    if (!timers[i].unref) return true;
  }
  return false;
}

// Fires the next timer unless a response is due that does not wait for the clock.
async function fireUnlessPending() {
  const asked = generation;
  const changesBefore = changes;
  const held = await countHeld(timers.length > 0 ? timers[0].at : null);
  if (asked !== generation) return;
  // Not here: the reactions to a response that came with this reply have not all run, and an exception
  // in a timer must not become a promise rejection.
  realTimers.setTimeout(() => {
    if (asked !== generation) return;
    pumping = false;
    // What the broker has counted is no longer what is in flight.
    if (changes !== changesBefore) pump();
    // Otherwise a response is on its way; its arrival calls `pump` again.
    else if (inFlight <= held || stalls >= MAX_STALLS) fireNext();
  }, 0);
}

function fireNext() {
  pumping = false;
  if (mode !== "skip" || timers.length === 0) return;
  if (timers[0].at > skipUntil) {
    endCatchUp();
    return;
  }
  try {
    fire(timers[0]);
  } finally {
    pump();
  }
}

// A stall: a request stays in flight for longer than the broker needs for any response it has. It
// waits for a clock that nothing moves any more, or is queued behind a request that does.
const STALL_MS = 20;
const MAX_STALLS = 25;
let stalls = 0;
// Setting a timer takes longer than anything else that a request costs here, so one is left to run
// over many requests. It does not keep the script running.
let stallTimer;
// Counts what shows that the script gets on, and the count when the timer was set.
let steps = 0;
let stepsSeen = 0;

function watchStall() {
  steps++;
  if (stallTimer === undefined && inFlight > 0) setStallTimer();
}

function setStallTimer() {
  stepsSeen = steps;
  stallTimer = realTimers.setTimeout(stalled, STALL_MS);
  unrefTimer(stallTimer);
}

function stopStallTimer() {
  if (stallTimer !== undefined) realTimers.clearTimeout(stallTimer);
  stallTimer = undefined;
}

async function stalled() {
  stallTimer = undefined;
  if (inFlight === 0) return;
  if (steps !== stepsSeen) {
    setStallTimer();
    return;
  }
  stalls++;
  if (timers.length === 0) {
    await countHeld(null);
  } else if (mode === "skip") {
    pump();
    watchStall();
  }
}

// Starts the clock, and tracks the script's requests.
function startTimers(time, timerMode, until, slept) {
  generation++;
  inFlight = 0;
  pumping = false;
  announcing = false;
  stalls = 0;
  nowMs = time;
  running = true;
  mode = timerMode;
  skipUntil = until;
  sleptMs = slept;
  const started = generation;
  const ended = () => {
    if (started !== generation) return;
    inFlight--;
    changes++;
    stalls = 0;
    watchStall();
    pump();
  };
  trackRequests((request) => {
    inFlight++;
    changes++;
    if (inFlight === 1) watchStall();
    PromisePrototypeThen(request, ended, ended);
    return request;
  });
}

// The timer functions for the script's globals.
function timerGlobals() {
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

// Timers that are still pending never fire.
function stopTimers() {
  generation++;
  running = false;
  inFlight = 0;
  stopStallTimer();
  while (timers.length > 0) removeTimer(timers[0].id);
  trackRequests((request) => request);
}

// In mode "hold": moves the clock by `ms` and fires the timers that become due. Between two timers
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

// Fires timers until none is left. Throws if more than `limit` fire.
async function drain(limit) {
  await settle();
  for (let count = 0; timers.length > 0; count++) {
    if (count === limit) {
      throw new RangeError(
        `${limit} timers fired and more are pending; is there an interval that is never cleared?`,
      );
    }
    fire(timers[0]);
    await settle();
  }
}

// Waits until everything that is ready has run, and the only requests in flight are those whose
// responses wait for the clock.
async function settle() {
  do {
    await new Promise((resolve) => realTimers.setTimeout(() => resolve(undefined), 0));
  } while (inFlight > 0 && inFlight > await countHeld(nowMs));
}

function now() {
  return MathFloor(nowMs);
}

// The exact virtual time; negative without a virtual clock.
function virtualTime() {
  return running ? nowMs : -1;
}

// A run that continues behind a checkpoint has the time at which it was made.
function continueAt(time) {
  if (running && time > nowMs) moveTo(time);
}

export {
  addTimer,
  advance,
  continueAt,
  drain,
  moveTo,
  now,
  readClock,
  startTimers,
  stopTimers,
  timerGlobals,
  virtualTime,
};
