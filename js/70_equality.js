// Deep equality for the matchers of `expect`.

import { core, primordials } from "ext:core/mod.js";
import { list } from "ext:pml/30_serialize.js";

const {
  ArrayIsArray,
  ArrayPrototypePop,
  ArrayPrototypePush,
  ArrayPrototypeSplice,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  DatePrototypeGetTime,
  ErrorPrototype,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeHas,
  ObjectGetOwnPropertySymbols,
  ObjectGetPrototypeOf,
  ObjectHasOwn,
  ObjectIs,
  ObjectKeys,
  ObjectPrototypeIsPrototypeOf,
  ObjectPrototypePropertyIsEnumerable,
  ObjectPrototypeToString,
  RegExpPrototypeToString,
  SafeArrayIterator,
  SafeMapIterator,
  SafeSetIterator,
  SetPrototypeGetSize,
  SetPrototypeHas,
  StringPrototypeStartsWith,
  TypedArrayPrototypeGetLength,
  Uint8Array,
} = primordials;

const { URL, URLSearchParams } = core.loadExtScript("ext:deno_web/00_url.js");

let isMatcher;

// An asymmetric matcher: a placeholder inside an expected value that accepts all values of a kind.
class Matcher {
  #accepts;
  #name;
  static {
    isMatcher = (value) =>
      typeof value === "object" && value !== null && #accepts in value;
  }

  constructor(name, accepts) {
    this.#name = name;
    this.#accepts = accepts;
  }

  accepts(value) {
    return this.#accepts(value);
  }

  // Shown by the console.
  get [globalThis.Symbol.toStringTag]() {
    return this.#name;
  }

  toJSON() {
    return this.#name;
  }
}

// Modes: `loose` ignores properties that are undefined, `strict` also compares prototypes and array
// holes, `subset` lets the actual value have more properties than the expected one.
function equal(actual, expected, mode = "loose") {
  return same(actual, expected, mode, list());
}

function same(actual, expected, mode, open) {
  if (isMatcher(expected)) return expected.accepts(actual);
  if (ObjectIs(actual, expected)) return true;
  if (
    typeof actual !== "object" || typeof expected !== "object" || actual === null ||
    expected === null
  ) {
    return false;
  }
  // A cycle: a pair that is already being compared counts as equal.
  for (let i = 0; i < open.length; i++) {
    if (open[i].actual === actual && open[i].expected === expected) return true;
  }
  ArrayPrototypePush(open, { __proto__: null, actual, expected });
  const result = sameObjects(actual, expected, mode, open);
  ArrayPrototypePop(open);
  return result;
}

function sameObjects(actual, expected, mode, open) {
  if (
    mode === "strict" && ObjectGetPrototypeOf(actual) !== ObjectGetPrototypeOf(expected)
  ) {
    return false;
  }
  // A plain object lists the properties that the actual value, of any class, must have.
  if (mode === "subset" && kindOf(expected) === PLAIN) {
    return sameRecords(actual, expected, mode, open);
  }
  if (kindOf(actual) !== kindOf(expected)) return false;
  if (ArrayIsArray(expected)) return sameLists(actual, expected, mode, open);
  if (core.isDate(expected)) {
    return ObjectIs(DatePrototypeGetTime(actual), DatePrototypeGetTime(expected));
  }
  if (core.isRegExp(expected)) {
    return RegExpPrototypeToString(actual) === RegExpPrototypeToString(expected);
  }
  if (core.isMap(expected)) return sameMaps(actual, expected, mode, open);
  if (core.isSet(expected)) return sameSets(actual, expected, mode, open);
  if (core.isTypedArray(expected)) {
    const length = TypedArrayPrototypeGetLength(expected);
    return TypedArrayPrototypeGetLength(actual) === length &&
      sameItems(actual, expected, length, mode, open);
  }
  if (core.isAnyArrayBuffer(expected)) {
    return sameObjects(new Uint8Array(actual), new Uint8Array(expected), mode, open);
  }
  if (core.isDataView(expected)) return sameObjects(bytesOf(actual), bytesOf(expected), mode, open);
  if (core.isBoxedPrimitive(expected)) return ObjectIs(actual.valueOf(), expected.valueOf());
  // Their content cannot be inspected, so they are equal only by identity.
  if (core.isPromise(expected) || core.isWeakMap(expected) || core.isWeakSet(expected)) return false;
  if (isEqualByText(expected)) return `${actual}` === `${expected}`;
  if (isError(expected)) return sameErrors(actual, expected, mode, open);
  return sameRecords(actual, expected, mode, open);
}

const PLAIN = "[object Object]";

// The built-in kind of a value; an instance of a subclass has the kind of its base class.
function kindOf(value) {
  return isError(value) ? "[object Error]" : ObjectPrototypeToString(value);
}

// Whether the string form of the value represents it completely.
function isEqualByText(value) {
  return ObjectPrototypeIsPrototypeOf(URL.prototype, value) ||
    ObjectPrototypeIsPrototypeOf(URLSearchParams.prototype, value) ||
    StringPrototypeStartsWith(ObjectPrototypeToString(value), "[object Temporal.");
}

function bytesOf(view) {
  return new Uint8Array(
    DataViewPrototypeGetBuffer(view),
    DataViewPrototypeGetByteOffset(view),
    DataViewPrototypeGetByteLength(view),
  );
}

function sameErrors(actual, expected, mode, open) {
  if (actual.name !== expected.name || actual.message !== expected.message) return false;
  for (const key of new SafeArrayIterator(["cause", "errors"])) {
    if (mode === "subset" && !ObjectHasOwn(expected, key)) continue;
    if (!same(actual[key], expected[key], mode, open)) return false;
  }
  return sameRecords(actual, expected, mode, open);
}

function isError(value) {
  return ObjectPrototypeIsPrototypeOf(ErrorPrototype, value);
}

function sameLists(actual, expected, mode, open) {
  if (actual.length !== expected.length) return false;
  // A hole differs from an item that is undefined.
  for (let i = 0; mode === "strict" && i < actual.length; i++) {
    if (ObjectHasOwn(actual, i) !== ObjectHasOwn(expected, i)) return false;
  }
  return sameItems(actual, expected, actual.length, mode, open);
}

function sameItems(actual, expected, length, mode, open) {
  for (let i = 0; i < length; i++) {
    if (!same(actual[i], expected[i], mode, open)) return false;
  }
  return true;
}

function sameMaps(actual, expected, mode, open) {
  if (MapPrototypeGetSize(actual) !== MapPrototypeGetSize(expected)) return false;
  const unmatched = list();
  for (const entry of new SafeMapIterator(expected)) {
    if (!MapPrototypeHas(actual, entry[0])) {
      ArrayPrototypePush(unmatched, entry);
    } else if (!same(MapPrototypeGet(actual, entry[0]), entry[1], mode, open)) {
      return false;
    }
  }
  const others = list();
  for (const entry of new SafeMapIterator(actual)) {
    if (!MapPrototypeHas(expected, entry[0])) ArrayPrototypePush(others, entry);
  }
  return sameInAnyOrder(others, unmatched, mode, open);
}

function sameSets(actual, expected, mode, open) {
  if (SetPrototypeGetSize(actual) !== SetPrototypeGetSize(expected)) return false;
  const unmatched = list();
  for (const wanted of new SafeSetIterator(expected)) {
    if (!SetPrototypeHas(actual, wanted)) ArrayPrototypePush(unmatched, wanted);
  }
  const others = list();
  for (const item of new SafeSetIterator(actual)) {
    if (!SetPrototypeHas(expected, item)) ArrayPrototypePush(others, item);
  }
  return sameInAnyOrder(others, unmatched, mode, open);
}

// Whether the items can be matched one to one with the others, in any order.
function sameInAnyOrder(items, others, mode, open) {
  if (items.length !== others.length) return false;
  for (let i = 0; i < items.length; i++) {
    let found = -1;
    for (let j = 0; found < 0 && j < others.length; j++) {
      if (same(items[i], others[j], mode, open)) found = j;
    }
    if (found < 0) return false;
    ArrayPrototypeSplice(others, found, 1);
  }
  return true;
}

function sameRecords(actual, expected, mode, open) {
  for (const key of new SafeArrayIterator(keysOf(expected))) {
    if (mode === "subset" && !(key in actual)) return false;
    if (mode === "strict" && !ObjectHasOwn(actual, key)) return false;
    if (!same(actual[key], expected[key], mode, open)) return false;
  }
  if (mode === "subset") return true;
  for (const key of new SafeArrayIterator(keysOf(actual))) {
    if (ObjectHasOwn(expected, key)) continue;
    if (mode === "strict" || actual[key] !== undefined) return false;
  }
  return true;
}

// Enumerable string and symbol keys.
function keysOf(value) {
  const keys = ObjectKeys(value);
  for (const symbol of new SafeArrayIterator(ObjectGetOwnPropertySymbols(value))) {
    if (ObjectPrototypePropertyIsEnumerable(value, symbol)) ArrayPrototypePush(keys, symbol);
  }
  return keys;
}

export { equal, isMatcher, Matcher };
