// Builds the global object of a script. `seal` runs in every worker once its runtime stands:
// deno_core needs its own namespace until then, and a script must never see it.

import { primordials } from "ext:core/mod.js";
import { defineGlobal, defineWebGlobals, startClock } from "ext:pml/10_web.js";
import { createConsole, limitLogs } from "ext:pml/20_console.js";
import { forgetSeed } from "ext:pml/35_random.js";
import * as api from "ext:pml/40_tools.js";
import { captureGlobals, captureTemporal, enterWorld, SLEEP } from "ext:pml/45_virtual_clock.js";
import { load, store } from "ext:pml/46_storage.js";
import { leftover, run, watchFailures } from "ext:pml/60_result.js";
import { runTests } from "ext:pml/77_run_tests.js";
import "node:pml";
import "node:pml/test";

const {
  ArrayPrototypePush,
  Error,
  FunctionPrototype,
  ObjectDefineProperty,
  ReflectDeleteProperty,
  SafeArrayIterator,
} = primordials;

const API_NAMES = [
  "args",
  "callTool",
  "callToolsBatch",
  "describeTool",
  "getPrompt",
  "listPrompts",
  "listResources",
  "readResource",
  "searchTools",
  "ToolError",
  "tools",
];

// Names that V8 and deno_core put on the global object and that a script has no use for.
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
for (const name of new SafeArrayIterator(API_NAMES)) {
  defineGlobal(globalThis, name, api[name]);
}
defineGlobal(globalThis, "load", load);
defineGlobal(globalThis, "store", store);
captureGlobals();
watchFailures();

// In brackets: V8 compiles it at once, so that no worker has to.
const seal = (function () {
  for (const name of new SafeArrayIterator(REMOVED)) {
    ReflectDeleteProperty(globalThis, name);
  }
  // deno_core's stubs reach the ops through these; a script that replaced one would be handed
  // the op itself. A function may still have one of its own.
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
  // The worker formats stacks itself; no code of a script is asked.
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

// The last three are there for a run in a world of its own.
function begin(scriptArgs, logLimit, seed = undefined, time = undefined, skipsSleep = false) {
  limitLogs(logLimit);
  for (const arg of new SafeArrayIterator(scriptArgs)) {
    ArrayPrototypePush(api.args, arg);
  }
  startClock();
  forgetSeed();
  if (seed === undefined) return;
  captureTemporal();
  enterWorld(seed, time, skipsSleep ? SLEEP.skip : SLEEP.wait);
}

// Tests enter and leave worlds as they like.
function beginTests(file, settings) {
  captureTemporal();
  return runTests(file, settings);
}

ObjectDefineProperty(globalThis, "__pml", {
  __proto__: null,
  value: { __proto__: null, begin, leftover, run, runTests: beginTests, seal },
  configurable: true,
});
