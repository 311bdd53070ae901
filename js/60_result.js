// Runs the script and hands over what it left behind, or what it threw.

import { core, primordials } from "ext:core/mod.js";
import { list, toJson } from "ext:pml/30_serialize.js";
import { describe } from "ext:pml/55_errors.js";

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

// Rejections nobody has handled yet. A promise that is part of the result is handled late, when
// the result is walked, so the verdict waits until the end of the run.
const rejected = new SafeMap();

// Exceptions that a timer, a microtask or a listener let escape; the first settles a run.
const escaped = list();
const MAX_ESCAPED = 100;
let onEscape;

// The test that runs now: what nobody catches meanwhile is its failure.
let test;

function watchFailures() {
  core.setUnhandledPromiseRejectionHandler((promise, thrown) => {
    MapPrototypeSet(rejected, promise, { __proto__: null, thrown, test });
    return true;
  });
  core.setHandledPromiseRejectionHandler((promise) => {
    MapPrototypeDelete(rejected, promise);
  });
  core.setReportExceptionCallback(escape);
  // What a listener throws is told to this object, which stands for the global one.
  saveGlobalThisReference({
    __proto__: null,
    dispatchEvent(event) {
      escape(event.error);
      return false;
    },
  });
}

function escape(thrown) {
  if (escaped.length === MAX_ESCAPED) return;
  ArrayPrototypePush(escaped, { __proto__: null, thrown, test });
  onEscape?.();
}

function watchTest(name) {
  test = name;
}

// Descriptions of what nobody caught during the test, which ends with this.
function takeUncaught() {
  const faults = list();
  for (let i = 0; i < escaped.length;) {
    if (escaped[i].test === test) {
      ArrayPrototypePush(faults, describe(ArrayPrototypeSplice(escaped, i, 1)[0].thrown));
    } else {
      i++;
    }
  }
  MapPrototypeForEach(rejected, (rejection, promise) => {
    if (rejection.test !== test) return;
    MapPrototypeDelete(rejected, promise);
    ArrayPrototypePush(faults, describe(rejection.thrown));
  });
  test = undefined;
  return faults;
}

// Calls the script: [JSON text or undefined, description of a failure or undefined].
async function run(script) {
  try {
    const result = await new Promise((resolve, reject) => {
      onEscape = () => resolve(undefined);
      PromisePrototypeThen(evaluate(script), resolve, reject);
    });
    return pair(result, escaped.length > 0 ? describe(escaped[0].thrown) : undefined);
  } catch (thrown) {
    return pair(undefined, describe(thrown));
  }
}

// An array with a prototype would be asked for its `then`, which may be the script's.
function pair(result, fault) {
  const both = list();
  ArrayPrototypePush(both, result);
  ArrayPrototypePush(both, fault);
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

// What went wrong behind the result: an exception that escaped later, or the first rejection
// that is still unhandled. Its description, or undefined.
function leftover() {
  let first = escaped[0];
  MapPrototypeForEach(rejected, (rejection) => {
    first ??= rejection;
  });
  return first === undefined ? undefined : describe(first.thrown);
}

export { isFunctionToCall, leftover, pair, run, takeUncaught, watchFailures, watchTest };
