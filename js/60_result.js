// Runs the script and returns its result as JSON, or a description of what it threw.

import { core, primordials } from "ext:core/mod.js";
import { list, toJson } from "ext:pml/30_serialize.js";
import { describeThrown } from "ext:pml/55_errors.js";

const { saveGlobalThisReference } = core.loadExtScript("ext:deno_web/02_event.js");
const {
  ArrayPrototypePush,
  ArrayPrototypeSplice,
  FunctionPrototypeToString,
  MapPrototypeDelete,
  MapPrototypeForEach,
  MapPrototypeSet,
  PromisePrototypeThen,
  SafeMap,
  StringPrototypeStartsWith,
  Promise,
} = primordials;

// Unhandled rejections so far. A promise inside the result is handled late, when the result is
// serialized, so they are evaluated at the end of the run.
const rejected = new SafeMap();

// Uncaught exceptions of timers, microtasks and event listeners; the first one settles the run.
const uncaught = list();
const MAX_UNCAUGHT = 100;
let onUncaught;

// The running test: uncaught errors in the meantime count as its failure.
let currentTest;

function watchFailures() {
  core.setUnhandledPromiseRejectionHandler((promise, thrown) => {
    MapPrototypeSet(rejected, promise, { __proto__: null, thrown, test: currentTest });
    return true;
  });
  core.setHandledPromiseRejectionHandler((promise) => {
    MapPrototypeDelete(rejected, promise);
  });
  core.setReportExceptionCallback(reportUncaught);
  // deno_web reports an exception of a listener as an event on the global object; this object
  // stands in for it.
  saveGlobalThisReference({
    __proto__: null,
    dispatchEvent(event) {
      reportUncaught(event.error);
      return false;
    },
  });
}

function reportUncaught(thrown) {
  if (uncaught.length === MAX_UNCAUGHT) return;
  ArrayPrototypePush(uncaught, { __proto__: null, thrown, test: currentTest });
  onUncaught?.();
}

function setCurrentTest(name) {
  currentTest = name;
}

// Ends the current test and returns descriptions of its uncaught errors.
function takeUncaught() {
  const failures = list();
  for (let i = 0; i < uncaught.length;) {
    if (uncaught[i].test === currentTest) {
      ArrayPrototypePush(failures, describeThrown(ArrayPrototypeSplice(uncaught, i, 1)[0].thrown));
    } else {
      i++;
    }
  }
  MapPrototypeForEach(rejected, (rejection, promise) => {
    if (rejection.test !== currentTest) return;
    MapPrototypeDelete(rejected, promise);
    ArrayPrototypePush(failures, describeThrown(rejection.thrown));
  });
  currentTest = undefined;
  return failures;
}

// Calls the script. Returns [JSON text or undefined, description of a failure or undefined].
async function run(script) {
  try {
    const result = await new Promise((resolve, reject) => {
      onUncaught = () => resolve(undefined);
      PromisePrototypeThen(evaluate(script), resolve, reject);
    });
    return pair(result, uncaught.length > 0 ? describeThrown(uncaught[0].thrown) : undefined);
  } catch (thrown) {
    return pair(undefined, describeThrown(thrown));
  }
}

// A null-prototype array: awaiting an ordinary one would read `then`, which a script may have put
// on the prototype.
function pair(result, failure) {
  const both = list();
  ArrayPrototypePush(both, result);
  ArrayPrototypePush(both, failure);
  return both;
}

async function evaluate(script) {
  let value = await script();
  if (isFunctionToCall(value)) value = await value();
  return await toJson(value, "the result");
}

function isFunctionToCall(value) {
  return typeof value === "function" && !isClass(value);
}

function isClass(value) {
  return StringPrototypeStartsWith(FunctionPrototypeToString(value), "class");
}

// Describes a failure outside of the script's own promise: the first uncaught exception, or else
// the first rejection that is still unhandled. Returns undefined if there is none.
function leftover() {
  let first = uncaught[0];
  MapPrototypeForEach(rejected, (rejection) => {
    first ??= rejection;
  });
  return first === undefined ? undefined : describeThrown(first.thrown);
}

export {
  isFunctionToCall,
  leftover,
  pair,
  run,
  setCurrentTest,
  takeUncaught,
  watchFailures,
};
