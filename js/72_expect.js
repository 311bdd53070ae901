// `expect`: claims about values, and errors that say how a value differs from the claim.

import { core, primordials } from "ext:core/mod.js";
import { toJson } from "ext:pml/30_serialize.js";
import { equal, Matcher } from "ext:pml/70_equality.js";
import { brief, difference, lineDifference } from "ext:pml/71_diff.js";

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

// Each gives { pass, message, negated? }: what to say when the claim fails, and when its opposite
// does.
const MATCHERS = {
  __proto__: null,
  toBe: (actual, expected) => ({
    pass: ObjectIs(actual, expected),
    message: equal(actual, expected)
      ? `the values look the same but are not the same object; use toEqual to compare contents`
      : `expected ${brief(expected)}:\n${difference(expected, actual)}`,
    negated: `expected anything but ${brief(expected)}`,
  }),
  toEqual: (actual, expected) => compared(actual, expected, "loose"),
  toStrictEqual: (actual, expected) => compared(actual, expected, "strict"),
  toMatchObject: (actual, expected) => compared(actual, expected, "subset"),
  toBeTruthy: (actual) => told(!!actual, actual, "a true value"),
  toBeFalsy: (actual) => told(!actual, actual, "a false value"),
  toBeNull: (actual) => told(actual === null, actual, "null"),
  toBeUndefined: (actual) => told(actual === undefined, actual, "undefined"),
  toBeDefined: (actual) => told(actual !== undefined, actual, "anything but undefined"),
  toBeNaN: (actual) => told(NumberIsNaN(actual), actual, "NaN"),
  toBeInstanceOf: (actual, type) =>
    told(actual instanceof type, actual, `an instance of ${type?.name ?? brief(type)}`),
  toBeTypeOf: (actual, type) => told(typeof actual === type, actual, `a ${type}`),
  toBeGreaterThan: (actual, limit) =>
    told(actual > limit, actual, `more than ${brief(limit)}`),
  toBeGreaterThanOrEqual: (actual, limit) =>
    told(actual >= limit, actual, `at least ${brief(limit)}`),
  toBeLessThan: (actual, limit) => told(actual < limit, actual, `less than ${brief(limit)}`),
  toBeLessThanOrEqual: (actual, limit) =>
    told(actual <= limit, actual, `at most ${brief(limit)}`),
  toBeCloseTo: (actual, expected, digits = 2) =>
    told(
      ObjectIs(actual, expected) || MathAbs(actual - expected) < MathPow(10, -digits) / 2,
      actual,
      `${brief(expected)} to ${digits} digits`,
    ),
  toMatch: (actual, pattern) =>
    told(
      typeof actual === "string" && matches(actual, pattern),
      actual,
      `a string that matches ${brief(pattern)}`,
    ),
  toContain: (actual, item) =>
    told(contains(actual, item, ObjectIs), actual, `something that contains ${brief(item)}`),
  toContainEqual: (actual, item) =>
    told(contains(actual, item, equal), actual, `something that contains ${brief(item)}`),
  toHaveLength: (actual, length) =>
    told(actual?.length === length, actual, `a length of ${brief(length)}`),
  toHaveProperty: (actual, path, ...expected) => {
    const found = property(actual, path);
    const pass = found.there &&
      (expected.length === 0 || equal(found.value, expected[0]));
    const value = expected.length === 0 ? "" : ` of ${brief(expected[0])}`;
    return told(pass, actual, `a property ${brief(path)}${value}`);
  },
  toThrow: (actual, expected) => {
    if (typeof actual !== "function") {
      throw new TypeError("toThrow needs a function; for a promise write expect(promise).rejects");
    }
    try {
      actual();
    } catch (thrown) {
      return thrownBy(thrown, expected);
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
    const verdict = matchSnapshot(snapshotText(actual), hint);
    return {
      pass: verdict.pass,
      message: verdict.missing
        ? `there is no snapshot "${verdict.name}" yet; write it with pml test --update`
        : `the value differs from the snapshot "${verdict.name}"; ` +
          `accept it with pml test --update:\n${lineDifference(verdict.expected ?? "", verdict.actual)}`,
      negated: "toMatchSnapshot has no opposite",
    };
  },
};

function told(pass, actual, wanted) {
  return {
    pass,
    message: `expected ${wanted}, not ${brief(actual)}`,
    negated: `expected something else than ${wanted}: ${brief(actual)}`,
  };
}

function compared(actual, expected, how) {
  return {
    pass: equal(actual, expected, how),
    message: `the values differ (- expected, + actual):\n${difference(expected, actual, how)}`,
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



function thrownBy(thrown, expected) {
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
    throw new TypeError(`${name} is about what mockTool gives, not ${brief(actual)}`);
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
      difference(expected, calls.all[0])
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
        difference(expected, calls.all[n - 1])
      }`
      : `${calls.name} was called ${calls.length} times; there is no call ${n}`,
    negated: `expected another call ${n} of ${calls.name} than ${brief(expected)}`,
  };
}

// Text stays as it is; anything else is JSON that people can read.
function snapshotText(value) {
  if (typeof value === "string") return value;
  const json = toJson(value, "the value of a snapshot");
  if (json === undefined) return String(value);
  if (typeof json !== "string") {
    throw new TypeError("a snapshot needs a value without promises inside; await them first");
  }
  return JSONStringify(JSONParse(json), null, 2);
}

function judge(name, matcher, actual, values, opposite, from) {
  const verdict = matcher(actual, ...new SafeArrayIterator(values));
  if (verdict.pass !== opposite) return;
  const message = opposite ? verdict.negated ?? verdict.message : verdict.message;
  throw new AssertionError(`${name}: ${message}`, from);
}

function expect(actual) {
  return {
    __proto__: claimsAbout(actual, false),
    get not() {
      return claimsAbout(actual, true);
    },
    get resolves() {
      return later(actual, (promise) => promise, "resolves");
    },
    get rejects() {
      return later(actual, reasonOf, "rejects");
    },
  };
}

function reasonOf(promise) {
  return PromisePrototypeThen(
    promise,
    (value) => new Fulfilled(value),
    (reason) => reason,
  );
}

// Stands for the reason that a promise did not have.
class Fulfilled {
  constructor(value) {
    this.value = value;
  }
}

function claimsAbout(actual, opposite) {
  const claims = { __proto__: null };
  for (const name of new SafeArrayIterator(ObjectKeys(MATCHERS))) {
    claims[name] = function claim(...values) {
      judge(title(name, opposite), MATCHERS[name], actual, values, opposite, claim);
    };
  }
  return claims;
}

function title(name, opposite) {
  return opposite ? `not.${name}` : name;
}

// The same claims about what a promise becomes; each gives a promise.
function later(actual, settle, word) {
  const promise = typeof actual === "function" ? () => actual() : () => actual;
  const claims = { __proto__: null };
  const opposites = { __proto__: null };
  for (const name of new SafeArrayIterator(ObjectKeys(MATCHERS))) {
    const make = (opposite) =>
      async function claim(...values) {
        const value = await settle(PromiseResolve(promise()));
        if (value instanceof Fulfilled) {
          throw new AssertionError(
            `${word}: the promise was fulfilled with ${brief(value.value)}`,
            claim,
          );
        }
        const matcher = name === "toThrow"
          ? (thrown, expected) => thrownBy(thrown, expected)
          : MATCHERS[name];
        judge(`${word}.${title(name, opposite)}`, matcher, value, values, opposite, claim);
      };
    claims[name] = make(false);
    opposites[name] = make(true);
  }
  claims.not = opposites;
  return claims;
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
expect.fail = function fail(message = "this should not be reached") {
  throw new AssertionError(String(message), fail);
};

export { AssertionError, connect, expect, isAssertionError };
