// Describes a value that a script threw. Any property of it may be a getter that throws, hangs or
// lies, so each is read once, inside `try`, and truncated; only the description leaves the isolate.

import { core, primordials } from "ext:core/mod.js";
import { inspect } from "ext:pml/20_console.js";
import { isTooLarge, list } from "ext:pml/30_serialize.js";
import { hintOf, isToolError } from "ext:pml/39_requests.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ErrorPrototype,
  EvalErrorPrototype,
  JSONStringify,
  ObjectPrototypeIsPrototypeOf,
  RangeErrorPrototype,
  StringPrototypeEndsWith,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  StringPrototypeToWellFormed,
} = primordials;

const MAX_TEXT = 4_000;
const MAX_STACK = 16_000;
// Depth of `cause` chains, and number of errors in an AggregateError.
const MAX_INNER = 4;

// Returns the description as JSON text.
function describeThrown(thrown) {
  return JSONStringify(describeValue(thrown, MAX_INNER));
}

function describeValue(thrown, inner) {
  if (!isError(thrown)) return { __proto__: null, message: show(thrown) };
  const name = text(thrown, "name", MAX_TEXT) ?? "Error";
  const message = text(thrown, "message", MAX_TEXT) ?? "";
  const description = {
    __proto__: null,
    ...classify(thrown, message),
    message: header(name, message),
    stack: text(thrown, "stack", MAX_STACK),
  };
  // A message of the runtime itself needs no class name in front of it.
  if (description.kind === "output") description.message = message;
  if (inner > 0) {
    const cause = read(thrown, "cause");
    if (cause !== undefined && cause !== thrown) {
      description.cause = describeValue(cause, inner - 1);
    }
    description.errors = describeAll(read(thrown, "errors") ?? suppressed(thrown));
  }
  return description;
}

// Both errors of a SuppressedError (`using`): the one thrown by the disposal and the earlier one.
function suppressed(thrown) {
  const hidden = read(thrown, "suppressed");
  if (hidden === undefined) return undefined;
  const both = list();
  ArrayPrototypePush(both, read(thrown, "error"));
  ArrayPrototypePush(both, hidden);
  return both;
}

function header(name, message) {
  return name === "" || message === "" ? name + message : `${name}: ${message}`;
}

function describeAll(errors) {
  if (!isList(errors)) return undefined;
  const all = { __proto__: null };
  for (let i = 0; i < MAX_INNER; i++) {
    const error = read(errors, i);
    if (error === undefined) break;
    all[i] = describeValue(error, 0);
  }
  return all;
}

function isList(value) {
  try {
    return ArrayIsArray(value);
  } catch {
    return false;
  }
}

function isError(value) {
  if (core.isNativeError(value)) return true;
  try {
    return ObjectPrototypeIsPrototypeOf(ErrorPrototype, value);
  } catch {
    return false;
  }
}

// The error kind and the hint, from what a script cannot forge by setting `name`: private brands, or
// native errors with a message of V8 or of the runtime.
function classify(error, message) {
  // `error` is an object here, as the private brand check requires.
  if (isToolError(error)) {
    const kind = read(error, "kind");
    const hint = hintOf(error);
    return {
      __proto__: null,
      kind: kind === "denied" || kind === "calls" ? kind : "tool",
      hint: typeof hint === "string" ? truncate(hint, MAX_TEXT) : undefined,
    };
  }
  if (isTooLarge(error)) return { __proto__: null, kind: "output" };
  const is = (prototype) => ObjectPrototypeIsPrototypeOf(prototype, error);
  if (!core.isNativeError(error)) return { __proto__: null };
  if (is(EvalErrorPrototype) && StringPrototypeStartsWith(message, "Code generation from strings")) {
    return { __proto__: null, kind: "denied", hint: "noCodeFromStrings" };
  }
  if (
    is(RangeErrorPrototype) &&
    (StringPrototypeStartsWith(message, "Array buffer allocation failed") ||
      StringPrototypeEndsWith(message, "Out of memory"))
  ) {
    return { __proto__: null, kind: "memory" };
  }
  return { __proto__: null };
}

function read(object, key) {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

function text(object, key, limit) {
  const value = read(object, key);
  return typeof value === "string" ? truncate(value, limit) : undefined;
}

function truncate(value, limit) {
  const short = value.length > limit ? `${StringPrototypeSlice(value, 0, limit)}...` : value;
  return StringPrototypeToWellFormed(short);
}

function show(thrown) {
  if (typeof thrown === "string" && thrown.length > 0) return truncate(thrown, MAX_TEXT);
  try {
    return `the script threw ${truncate(inspect(thrown), MAX_TEXT)}`;
  } catch {
    return "the script threw a value that cannot be inspected";
  }
}

export { describeThrown };
