// When two values of a test are the same, piece by piece.

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

// Stands for all values that pass a test, inside an expected value.
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

  // What the console shows for it.
  get [globalThis.Symbol.toStringTag]() {
    return this.#name;
  }

  toJSON() {
    return this.#name;
  }
}

// How strict to be: `loose` ignores properties that are undefined, `strict` also compares
// classes, `subset` lets the actual value have more properties than the expected one.
function equal(actual, expected, how = "loose") {
  return same(actual, expected, how, list());
}

function same(actual, expected, how, open) {
  if (isMatcher(expected)) return expected.accepts(actual);
  if (ObjectIs(actual, expected)) return true;
  if (
    typeof actual !== "object" || typeof expected !== "object" || actual === null ||
    expected === null
  ) {
    return false;
  }
  // A pair that is being compared further up is the same if everything else is.
  for (let i = 0; i < open.length; i++) {
    if (open[i].actual === actual && open[i].expected === expected) return true;
  }
  ArrayPrototypePush(open, { __proto__: null, actual, expected });
  const result = sameObjects(actual, expected, how, open);
  ArrayPrototypePop(open);
  return result;
}

function sameObjects(actual, expected, how, open) {
  if (
    how === "strict" && ObjectGetPrototypeOf(actual) !== ObjectGetPrototypeOf(expected)
  ) {
    return false;
  }
  // A plain object names the properties that the other, whatever it is, should have.
  if (how === "subset" && kindOf(expected) === PLAIN) {
    return sameRecords(actual, expected, how, open);
  }
  if (kindOf(actual) !== kindOf(expected)) return false;
  if (ArrayIsArray(expected)) return sameLists(actual, expected, how, open);
  if (core.isDate(expected)) {
    return ObjectIs(DatePrototypeGetTime(actual), DatePrototypeGetTime(expected));
  }
  if (core.isRegExp(expected)) {
    return RegExpPrototypeToString(actual) === RegExpPrototypeToString(expected);
  }
  if (core.isMap(expected)) return sameMaps(actual, expected, how, open);
  if (core.isSet(expected)) return sameSets(actual, expected, how, open);
  if (core.isTypedArray(expected)) {
    const length = TypedArrayPrototypeGetLength(expected);
    return TypedArrayPrototypeGetLength(actual) === length &&
      sameItems(actual, expected, length, how, open);
  }
  if (core.isAnyArrayBuffer(expected)) {
    return sameObjects(new Uint8Array(actual), new Uint8Array(expected), how, open);
  }
  if (core.isDataView(expected)) return sameObjects(bytesOf(actual), bytesOf(expected), how, open);
  if (core.isBoxedPrimitive(expected)) return ObjectIs(actual.valueOf(), expected.valueOf());
  // Nobody can look into these, so only the very same one is the same.
  if (core.isPromise(expected) || core.isWeakMap(expected) || core.isWeakSet(expected)) return false;
  if (isWord(expected)) return `${actual}` === `${expected}`;
  if (isError(expected)) return sameErrors(actual, expected, how, open);
  return sameRecords(actual, expected, how, open);
}

const PLAIN = "[object Object]";

// As with `Array.isArray`, a class of the script is what it is made of.
function kindOf(value) {
  return isError(value) ? "[object Error]" : ObjectPrototypeToString(value);
}

// Whether everything about the value is in its text.
function isWord(value) {
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

function sameErrors(actual, expected, how, open) {
  if (actual.name !== expected.name || actual.message !== expected.message) return false;
  for (const key of new SafeArrayIterator(["cause", "errors"])) {
    if (how === "subset" && !ObjectHasOwn(expected, key)) continue;
    if (!same(actual[key], expected[key], how, open)) return false;
  }
  return sameRecords(actual, expected, how, open);
}

function isError(value) {
  return ObjectPrototypeIsPrototypeOf(ErrorPrototype, value);
}

function sameLists(actual, expected, how, open) {
  if (actual.length !== expected.length) return false;
  // A hole is not an item that is undefined.
  for (let i = 0; how === "strict" && i < actual.length; i++) {
    if (ObjectHasOwn(actual, i) !== ObjectHasOwn(expected, i)) return false;
  }
  return sameItems(actual, expected, actual.length, how, open);
}

function sameItems(actual, expected, length, how, open) {
  for (let i = 0; i < length; i++) {
    if (!same(actual[i], expected[i], how, open)) return false;
  }
  return true;
}

function sameMaps(actual, expected, how, open) {
  if (MapPrototypeGetSize(actual) !== MapPrototypeGetSize(expected)) return false;
  const left = list();
  for (const entry of new SafeMapIterator(expected)) {
    if (!MapPrototypeHas(actual, entry[0])) {
      ArrayPrototypePush(left, entry);
    } else if (!same(MapPrototypeGet(actual, entry[0]), entry[1], how, open)) {
      return false;
    }
  }
  const others = list();
  for (const entry of new SafeMapIterator(actual)) {
    if (!MapPrototypeHas(expected, entry[0])) ArrayPrototypePush(others, entry);
  }
  return samePairs(others, left, how, open);
}

function sameSets(actual, expected, how, open) {
  if (SetPrototypeGetSize(actual) !== SetPrototypeGetSize(expected)) return false;
  const left = list();
  for (const wanted of new SafeSetIterator(expected)) {
    if (!SetPrototypeHas(actual, wanted)) ArrayPrototypePush(left, wanted);
  }
  const others = list();
  for (const item of new SafeSetIterator(actual)) {
    if (!SetPrototypeHas(expected, item)) ArrayPrototypePush(others, item);
  }
  return samePairs(others, left, how, open);
}

// Whether each item has one of the others that is its own, in whatever order.
function samePairs(items, others, how, open) {
  if (items.length !== others.length) return false;
  for (let i = 0; i < items.length; i++) {
    let found = -1;
    for (let j = 0; found < 0 && j < others.length; j++) {
      if (same(items[i], others[j], how, open)) found = j;
    }
    if (found < 0) return false;
    ArrayPrototypeSplice(others, found, 1);
  }
  return true;
}

function sameRecords(actual, expected, how, open) {
  for (const key of new SafeArrayIterator(keysOf(expected))) {
    if (how === "subset" && !(key in actual)) return false;
    if (how === "strict" && !ObjectHasOwn(actual, key)) return false;
    if (!same(actual[key], expected[key], how, open)) return false;
  }
  if (how === "subset") return true;
  for (const key of new SafeArrayIterator(keysOf(actual))) {
    if (ObjectHasOwn(expected, key)) continue;
    if (how === "strict" || actual[key] !== undefined) return false;
  }
  return true;
}

// Names and symbols.
function keysOf(value) {
  const keys = ObjectKeys(value);
  for (const symbol of new SafeArrayIterator(ObjectGetOwnPropertySymbols(value))) {
    if (ObjectPrototypePropertyIsEnumerable(value, symbol)) ArrayPrototypePush(keys, symbol);
  }
  return keys;
}

export { equal, isMatcher, Matcher };
