// `expect`: matchers for values, and assertion errors that show how a value differs.

import { core, primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_serialize.js";
import { equal, Matcher } from "ext:pml/70_equality.js";
import { brief, diff, diffLines } from "ext:pml/71_diff.js";

const {
  ArrayIsArray,
  ArrayPrototypeSome,
  Error,
  ErrorCaptureStackTrace,
  ErrorPrototype,
  JSONParse,
  JSONStringify,
  MathAbs,
  MathPow,
  NumberIsNaN,
  Object,
  ObjectDefineProperty,
  ObjectIs,
  ObjectKeys,
  ObjectPrototypeIsPrototypeOf,
  PromisePrototypeThen,
  PromiseResolve,
  RegExpPrototypeTest,
  SafeArrayIterator,
  SetPrototypeHas,
  String,
  StringPrototypeIncludes,
  StringPrototypeSplit,
  TypeError,
} = primordials;

let isAssertionError;

class AssertionError extends Error {
  #brand = true;
  static {
    isAssertionError = (value) =>
      typeof value === "object" && value !== null && #brand in value;
  }
  constructor(message, from) {
    super(message);
    ObjectDefineProperty(this, "name", {
      __proto__: null,
      value: "AssertionError",
      writable: true,
      enumerable: false,
      configurable: true,
    });
    ErrorCaptureStackTrace(this, from);
  }
}

// Set by 73_mocks.js and 75_snapshots.js.
let callsOf = () => undefined;
let matchSnapshot = () => undefined;

function connect(parts) {
  callsOf = parts.callsOf ?? callsOf;
  matchSnapshot = parts.matchSnapshot ?? matchSnapshot;
}

// Each returns { pass, message, negated? }: the message of a failure, and that of a failure under
// `not`.
const MATCHERS = {
  __proto__: null,
  toBe: (actual, expected) => ({
    pass: ObjectIs(actual, expected),
    message: equal(actual, expected)
      ? `the values look the same but are not the same object; use toEqual to compare contents`
      : `expected ${brief(expected)}:\n${diff(expected, actual)}`,
    negated: `expected anything but ${brief(expected)}`,
  }),
  toEqual: (actual, expected) => compareResult(actual, expected, "loose"),
  toStrictEqual: (actual, expected) => compareResult(actual, expected, "strict"),
  toMatchObject: (actual, expected) => compareResult(actual, expected, "subset"),
  toBeTruthy: (actual) => matchResult(!!actual, actual, "a true value"),
  toBeFalsy: (actual) => matchResult(!actual, actual, "a false value"),
  toBeNull: (actual) => matchResult(actual === null, actual, "null"),
  toBeUndefined: (actual) => matchResult(actual === undefined, actual, "undefined"),
  toBeDefined: (actual) => matchResult(actual !== undefined, actual, "anything but undefined"),
  toBeNaN: (actual) => matchResult(NumberIsNaN(actual), actual, "NaN"),
  toBeInstanceOf: (actual, type) =>
    matchResult(actual instanceof type, actual, `an instance of ${type?.name ?? brief(type)}`),
  toBeTypeOf: (actual, type) => matchResult(typeof actual === type, actual, `a ${type}`),
  toBeGreaterThan: (actual, limit) =>
    matchResult(actual > limit, actual, `more than ${brief(limit)}`),
  toBeGreaterThanOrEqual: (actual, limit) =>
    matchResult(actual >= limit, actual, `at least ${brief(limit)}`),
  toBeLessThan: (actual, limit) => matchResult(actual < limit, actual, `less than ${brief(limit)}`),
  toBeLessThanOrEqual: (actual, limit) =>
    matchResult(actual <= limit, actual, `at most ${brief(limit)}`),
  toBeCloseTo: (actual, expected, digits = 2) =>
    matchResult(
      ObjectIs(actual, expected) || MathAbs(actual - expected) < MathPow(10, -digits) / 2,
      actual,
      `${brief(expected)} to ${digits} digits`,
    ),
  toMatch: (actual, pattern) =>
    matchResult(
      typeof actual === "string" && matches(actual, pattern),
      actual,
      `a string that matches ${brief(pattern)}`,
    ),
  toContain: (actual, item) =>
    matchResult(contains(actual, item, ObjectIs), actual, `something that contains ${brief(item)}`),
  toContainEqual: (actual, item) =>
    matchResult(contains(actual, item, equal), actual, `something that contains ${brief(item)}`),
  toHaveLength: (actual, length) =>
    matchResult(actual?.length === length, actual, `a length of ${brief(length)}`),
  toHaveProperty: (actual, path, ...expected) => {
    const found = property(actual, path);
    const pass = found.there &&
      (expected.length === 0 || equal(found.value, expected[0]));
    const value = expected.length === 0 ? "" : ` of ${brief(expected[0])}`;
    return matchResult(pass, actual, `a property ${brief(path)}${value}`);
  },
  toThrow: (actual, expected) => {
    if (typeof actual !== "function") {
      throw new TypeError("toThrow needs a function; for a promise write expect(promise).rejects");
    }
    try {
      actual();
    } catch (thrown) {
      return checkThrown(thrown, expected);
    }
    return { pass: false, message: "expected the function to throw, and it returned" };
  },
  toHaveBeenCalled: (actual) => {
    const calls = needCalls(actual, "toHaveBeenCalled");
    return {
      pass: calls.length > 0,
      message: `expected ${calls.name} to have been called`,
      negated: `expected ${calls.name} not to have been called, and it was:\n${listed(calls)}`,
    };
  },
  toHaveBeenCalledTimes: (actual, times) => {
    const calls = needCalls(actual, "toHaveBeenCalledTimes");
    return {
      pass: calls.length === times,
      message:
        `expected ${times} calls of ${calls.name}, and there were ${calls.length}:\n${listed(calls)}`,
      negated: `expected any number of calls of ${calls.name} but ${times}`,
    };
  },
  toHaveBeenCalledWith: (actual, expected = {}) => {
    const calls = needCalls(actual, "toHaveBeenCalledWith");
    return {
      pass: ArrayPrototypeSome(calls.all, (args) => equal(args, expected)),
      message: nearestCall(calls, expected),
      negated: `expected no call of ${calls.name} with ${brief(expected)}`,
    };
  },
  toHaveBeenLastCalledWith: (actual, expected = {}) => {
    const calls = needCalls(actual, "toHaveBeenLastCalledWith");
    return nthCall(calls, calls.length, expected);
  },
  toHaveBeenNthCalledWith: (actual, n, expected = {}) =>
    nthCall(needCalls(actual, "toHaveBeenNthCalledWith"), n, expected),
  toMatchSnapshot: (actual, hint = undefined) => {
    const match = matchSnapshot(snapshotText(actual), hint);
    return {
      pass: match.pass,
      message: match.missing
        ? `there is no snapshot "${match.name}" yet; write it with pml test --update`
        : `the value differs from the snapshot "${match.name}"; ` +
          `accept it with pml test --update:\n${diffLines(match.expected ?? "", match.actual)}`,
      negated: "toMatchSnapshot cannot be used with `not`",
    };
  },
};

function matchResult(pass, actual, wanted) {
  return {
    pass,
    message: `expected ${wanted}, not ${brief(actual)}`,
    negated: `expected something other than ${wanted}: ${brief(actual)}`,
  };
}

function compareResult(actual, expected, mode) {
  return {
    pass: equal(actual, expected, mode),
    message: `the values differ (- expected, + actual):\n${diff(expected, actual, mode)}`,
    negated: `expected anything but ${brief(expected)}`,
  };
}

function matches(text, pattern) {
  if (typeof pattern === "string") return StringPrototypeIncludes(text, pattern);
  if (!core.isRegExp(pattern)) throw new TypeError("toMatch needs a string or a RegExp");
  pattern.lastIndex = 0;
  return RegExpPrototypeTest(pattern, text);
}

function contains(actual, item, same) {
  if (typeof actual === "string") return StringPrototypeIncludes(actual, String(item));
  if (core.isSet(actual) && SetPrototypeHas(actual, item)) return true;
  if (actual === null || actual === undefined) return false;
  for (const candidate of actual) {
    if (same(candidate, item)) return true;
  }
  return false;
}

function property(actual, path) {
  const names = ArrayIsArray(path) ? path : StringPrototypeSplit(String(path), ".");
  let value = actual;
  for (const name of new SafeArrayIterator(names)) {
    if (value === null || value === undefined || !(name in Object(value))) {
      return { there: false };
    }
    value = value[name];
  }
  return { there: true, value };
}

// Compares a thrown value with what a test expects of it.
function checkThrown(thrown, expected) {
  const message = typeof thrown?.message === "string" ? thrown.message : brief(thrown);
  let pass = true;
  let wanted = "an error";
  if (typeof expected === "string" || core.isRegExp(expected)) {
    pass = matches(message, expected);
    wanted = `an error whose message matches ${brief(expected)}`;
  } else if (typeof expected === "function") {
    pass = thrown instanceof expected;
    wanted = `a ${expected.name}`;
  } else if (ObjectPrototypeIsPrototypeOf(ErrorPrototype, expected)) {
    pass = message === expected.message;
    wanted = `an error with the message ${brief(expected.message)}`;
  } else if (expected !== undefined) {
    pass = equal(thrown, expected, "subset");
    wanted = `an error like ${brief(expected)}`;
  }
  return {
    pass,
    message: `expected ${wanted} to be thrown, not ${brief(message)}`,
    negated: `expected no error, and this was thrown: ${message}`,
  };
}

function needCalls(actual, name) {
  const calls = callsOf(actual);
  if (calls === undefined) {
    throw new TypeError(`${name} needs a mock made by mockTool, not ${brief(actual)}`);
  }
  return calls;
}

function listed(calls) {
  let text = "";
  for (let i = 0; i < calls.length && i < 10; i++) {
    text += `  ${i + 1}. ${brief(calls.all[i])}\n`;
  }
  return text === "" ? "  (never)" : text;
}

function nearestCall(calls, expected) {
  if (calls.length === 0) {
    return `expected a call of ${calls.name} with ${brief(expected)}, and there was none`;
  }
  if (calls.length === 1) {
    return `the call of ${calls.name} differs (- expected, + actual):\n${
      diff(expected, calls.all[0])
    }`;
  }
  return `expected a call of ${calls.name} with ${brief(expected)}; the calls were:\n${
    listed(calls)
  }`;
}

function nthCall(calls, n, expected) {
  const there = n >= 1 && n <= calls.length;
  return {
    pass: there && equal(calls.all[n - 1], expected),
    message: there
      ? `call ${n} of ${calls.name} differs (- expected, + actual):\n${
        diff(expected, calls.all[n - 1])
      }`
      : `${calls.name} was called ${calls.length} times; there is no call ${n}`,
    negated: `expected another call ${n} of ${calls.name} than ${brief(expected)}`,
  };
}

// A string is kept as it is; any other value becomes indented JSON.
function snapshotText(value) {
  if (typeof value === "string") return value;
  const json = toJson(value, "the value of a snapshot");
  if (json === undefined) return String(value);
  if (typeof json !== "string") {
    throw new TypeError("a snapshot needs a value without promises inside; await them first");
  }
  return JSONStringify(JSONParse(json), null, 2);
}

function check(name, matcher, actual, values, negate, from) {
  const outcome = matcher(actual, ...new SafeArrayIterator(values));
  if (outcome.pass !== negate) return;
  const message = negate ? outcome.negated ?? outcome.message : outcome.message;
  throw new AssertionError(`${name}: ${message}`, from);
}

function expect(actual) {
  return {
    __proto__: syncMatchers(actual, false),
    get not() {
      return syncMatchers(actual, true);
    },
    get resolves() {
      return asyncMatchers(actual, (promise) => promise, "resolves");
    },
    get rejects() {
      return asyncMatchers(actual, rejectionReason, "rejects");
    },
  };
}

function rejectionReason(promise) {
  return PromisePrototypeThen(
    promise,
    (value) => new Fulfilled(value),
    (reason) => reason,
  );
}

// Wraps the value of a promise that was expected to be rejected.
class Fulfilled {
  constructor(value) {
    this.value = value;
  }
}

function syncMatchers(actual, negate) {
  const matchers = { __proto__: null };
  for (const name of new SafeArrayIterator(ObjectKeys(MATCHERS))) {
    matchers[name] = function assertion(...values) {
      check(title(name, negate), MATCHERS[name], actual, values, negate, assertion);
    };
  }
  return matchers;
}

function title(name, negate) {
  return negate ? `not.${name}` : name;
}

// The same matchers for the settled value of a promise; each returns a promise.
function asyncMatchers(actual, settle, prefix) {
  const promise = typeof actual === "function" ? () => actual() : () => actual;
  const matchers = { __proto__: null };
  const negatedMatchers = { __proto__: null };
  for (const name of new SafeArrayIterator(ObjectKeys(MATCHERS))) {
    const make = (negate) =>
      async function assertion(...values) {
        const value = await settle(PromiseResolve(promise()));
        if (value instanceof Fulfilled) {
          throw new AssertionError(
            `${prefix}: the promise was fulfilled with ${brief(value.value)}`,
            assertion,
          );
        }
        const matcher = name === "toThrow"
          ? (thrown, expected) => checkThrown(thrown, expected)
          : MATCHERS[name];
        check(`${prefix}.${title(name, negate)}`, matcher, value, values, negate, assertion);
      };
    matchers[name] = make(false);
    negatedMatchers[name] = make(true);
  }
  matchers.not = negatedMatchers;
  return matchers;
}

expect.any = (type) =>
  new Matcher(`any ${type?.name}`, (value) => {
    switch (type?.name) {
      case "String":
        return typeof value === "string";
      case "Number":
        return typeof value === "number";
      case "Boolean":
        return typeof value === "boolean";
      case "BigInt":
        return typeof value === "bigint";
      case "Object":
        return typeof value === "object" && value !== null;
      default:
        return ObjectPrototypeIsPrototypeOf(type.prototype, value);
    }
  });
expect.anything = () =>
  new Matcher("anything", (value) => value !== null && value !== undefined);
expect.objectContaining = (part) =>
  new Matcher(
    `object containing ${brief(part)}`,
    (value) => typeof value === "object" && value !== null && equal(value, part, "subset"),
  );
expect.arrayContaining = (items) =>
  new Matcher(`array containing ${brief(items)}`, (value) => {
    if (!ArrayIsArray(value)) return false;
    for (const item of new SafeArrayIterator(items)) {
      if (!contains(value, item, equal)) return false;
    }
    return true;
  });
expect.stringContaining = (part) =>
  new Matcher(
    `string containing ${brief(part)}`,
    (value) => typeof value === "string" && StringPrototypeIncludes(value, part),
  );
expect.stringMatching = (pattern) =>
  new Matcher(
    `string matching ${brief(pattern)}`,
    (value) => typeof value === "string" && matches(value, pattern),
  );
expect.closeTo = (number, digits = 2) =>
  new Matcher(
    `a number close to ${number}`,
    (value) =>
      typeof value === "number" && MathAbs(value - number) < MathPow(10, -digits) / 2,
  );
expect.fail = function fail(message = "this line should not be reached") {
  throw new AssertionError(String(message), fail);
};

export { AssertionError, connect, expect, isAssertionError };
