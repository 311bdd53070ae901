// The entry point: builds the global object of a script. `seal` runs in every worker after its
// runtime is initialized: deno_core needs its own namespace until then, and a script must never see
// it.

import { primordials } from "ext:core/mod.js";
import { defineGlobal, defineWebGlobals, startClock } from "ext:pml/10_web.js";
import { createConsole, setLogLimit } from "ext:pml/20_console.js";
import { resetSeed } from "ext:pml/35_random.js";
import {
  captureIntl,
  captureTemporal,
  captureWebGlobals,
  hideTemporal,
  installAhead,
  installVirtualClock,
  removeVirtualClock,
  showTemporal,
  TIMER_MODE,
} from "ext:pml/45_virtual_clock.js";
import { leftover, run, watchFailures } from "ext:pml/60_result.js";
import { runTests } from "ext:pml/77_run_tests.js";
import * as api from "node:pml";
import "node:pml/test";

const {
  ArrayPrototypePush,
  Error,
  FunctionPrototype,
  ObjectDefineProperty,
  ObjectKeys,
  ReflectDeleteProperty,
  SafeArrayIterator,
} = primordials;

// Globals of V8 and deno_core that a script must not have.
const REMOVED = [
  "Deno",
  "SharedArrayBuffer",
  "WebAssembly",
  "__bootstrap",
  "__infra",
  "__pml",
  "__timers",
  "eval",
];

defineWebGlobals(globalThis);
defineGlobal(globalThis, "console", createConsole());
// Every export of `pml` is a global as well.
for (const name of new SafeArrayIterator(ObjectKeys(api))) {
  defineGlobal(globalThis, name, api[name]);
}
captureWebGlobals();
watchFailures();

// In parentheses: V8 compiles the function eagerly, into the snapshot, so that no worker has to.
const seal = (function () {
  for (const name of new SafeArrayIterator(REMOVED)) {
    ReflectDeleteProperty(globalThis, name);
  }
  // deno_core's stubs call the ops through these methods; a script that replaced one would receive
  // the op itself. Assigning an own `apply`, `bind` or `call` to another function still works.
  for (const name of new SafeArrayIterator(["apply", "bind", "call"])) {
    const intrinsic = FunctionPrototype[name];
    ObjectDefineProperty(FunctionPrototype, name, {
      __proto__: null,
      get() {
        return intrinsic;
      },
      set(value) {
        if (this !== FunctionPrototype) defineGlobal(this, name, value);
      },
      enumerable: false,
      configurable: false,
    });
  }
  // The worker formats stacks itself and never calls code of the script for it.
  ObjectDefineProperty(Error, "prepareStackTrace", {
    __proto__: null,
    get() {
      return undefined;
    },
    set(_ignored) {},
    enumerable: false,
    configurable: false,
  });
  ObjectDefineProperty(globalThis, "Error", {
    __proto__: null,
    value: Error,
    writable: false,
    enumerable: false,
    configurable: false,
  });
});

// `seed` and `time` are given for a run with a virtual clock. Its timers up to the virtual time
// `skipUntil` do not take real time; `slept` is the real time that later ones have waited before.
// `durable`: the randomness of `crypto` is that of the run, in the op. `temporal`: whether the
// script names `Temporal`; `undefined` where no script runs.
function begin(
  scriptArgs,
  logLimit,
  seed = undefined,
  time = 0,
  skipUntil = 0,
  slept = 0,
  durable = false,
  temporal = undefined,
) {
  setLogLimit(logLimit);
  for (const arg of new SafeArrayIterator(scriptArgs)) {
    ArrayPrototypePush(api.args, arg);
  }
  startClock();
  if (seed === undefined) {
    removeVirtualClock();
    resetSeed();
    return;
  }
  if (temporal === false) {
    hideTemporal();
  } else if (temporal === true) {
    showTemporal();
    captureTemporal();
  }
  const mode = skipUntil > time ? TIMER_MODE.skip : TIMER_MODE.wait;
  installVirtualClock(seed, time, mode, skipUntil, slept, durable);
}

// For a worker that waits for its run: most have a virtual clock.
function prepare() {
  setLogLimit(0);
  installAhead();
}

// Tests install and remove virtual clocks themselves.
function beginTests(file, settings) {
  captureIntl();
  captureTemporal();
  return runTests(file, settings);
}

ObjectDefineProperty(globalThis, "__pml", {
  __proto__: null,
  value: { __proto__: null, begin, leftover, prepare, run, runTests: beginTests, seal },
  configurable: true,
});
