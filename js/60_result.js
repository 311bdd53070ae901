// Runs the script and hands over what it left behind, or what it threw.

import { core, primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_plain.js";
import { describe } from "ext:pml/55_fault.js";

const {
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

// Settled by the first exception that a timer or a microtask lets escape.
let escaped = false;
let escapee;
let onEscape;

function watchFailures() {
  core.setUnhandledPromiseRejectionHandler((promise, reason) => {
    MapPrototypeSet(rejected, promise, reason);
    return true;
  });
  core.setHandledPromiseRejectionHandler((promise) => {
    MapPrototypeDelete(rejected, promise);
  });
  core.setReportExceptionCallback((error) => {
    if (escaped) return;
    escaped = true;
    escapee = error;
    onEscape?.();
  });
}

// Calls the script: [JSON text or undefined, description of a failure or undefined].
async function run(script) {
  try {
    const result = await new Promise((resolve, reject) => {
      onEscape = () => resolve(undefined);
      PromisePrototypeThen(evaluate(script), resolve, reject);
    });
    return [result, escaped ? describe(escapee) : undefined];
  } catch (thrown) {
    return [undefined, describe(thrown)];
  }
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
  if (escaped) return describe(escapee);
  let found = false;
  let first;
  MapPrototypeForEach(rejected, (reason) => {
    if (!found) {
      found = true;
      first = reason;
    }
  });
  return found ? describe(first) : undefined;
}

export { isFunctionToCall, leftover, run, watchFailures };
