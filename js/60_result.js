// From what a script left behind to the text that the broker gets.

import { core, primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_plain.js";

const {
  FunctionPrototypeToString,
  MapPrototypeDelete,
  MapPrototypeForEach,
  MapPrototypeSet,
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
  if (found) throw first;
}

// Evaluates the script's module and gives its result as JSON text.
async function run(specifier) {
  const module = await import(specifier);
  let value = await module.default;
  if (typeof value === "function" && !isClass(value)) value = await value();
  return await toJson(value, "the result");
}

function isClass(value) {
  return StringPrototypeStartsWith(FunctionPrototypeToString(value), "class");
}

export { run, throwUnhandled, trackRejections };
