// From what a script left behind to the text that the broker gets.

import { core, primordials } from "ext:core/mod.js";
import { inspect } from "ext:pml/20_console.js";
import { toJson } from "ext:pml/30_plain.js";

const {
  Error,
  ErrorPrototype,
  FunctionPrototypeToString,
  MapPrototypeDelete,
  MapPrototypeForEach,
  MapPrototypeSet,
  ObjectPrototypeIsPrototypeOf,
  SafeMap,
  StringPrototypeStartsWith,
} = primordials;

// Rejections nobody has handled yet. A promise that is part of the result is handled late, when
// the result is walked, so the verdict waits until the end of the run.
const rejected = new SafeMap();

function trackRejections() {
  core.setUnhandledPromiseRejectionHandler((promise, reason) => {
    MapPrototypeSet(rejected, promise, reason);
    return true;
  });
  core.setHandledPromiseRejectionHandler((promise) => {
    MapPrototypeDelete(rejected, promise);
  });
}

// Throws the first rejection that is still unhandled.
function throwUnhandled() {
  let found = false;
  let first;
  MapPrototypeForEach(rejected, (reason) => {
    if (!found) {
      found = true;
      first = reason;
    }
  });
  if (found) throw speaking(first);
}

// Evaluates the script's module and gives its result as JSON text.
async function run(specifier) {
  try {
    return await evaluate(specifier);
  } catch (thrown) {
    throw speaking(thrown);
  }
}

async function evaluate(specifier) {
  const module = await import(specifier);
  let value = await module.default;
  if (typeof value === "function" && !isClass(value)) value = await value();
  return await toJson(value, "the result");
}

// Anything can be thrown; what is no error gets a message that shows it.
function speaking(thrown) {
  if (core.isNativeError(thrown)) return thrown;
  if (ObjectPrototypeIsPrototypeOf(ErrorPrototype, thrown)) return thrown;
  const error = new Error(typeof thrown === "string" ? thrown : inspect(thrown));
  error.name = "ThrownValue";
  return error;
}

function isClass(value) {
  return StringPrototypeStartsWith(FunctionPrototypeToString(value), "class");
}

export { run, throwUnhandled, trackRejections };
