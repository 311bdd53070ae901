// When two values of a test are the same, piece by piece.

import { core, primordials } from "ext:core/mod.js";
import { list } from "ext:pml/30_plain.js";

const {
  ArrayIsArray,
  ArrayPrototypePop,
  ArrayPrototypePush,
  DatePrototypeGetTime,
  ErrorPrototype,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeHas,
  ObjectGetPrototypeOf,
  ObjectHasOwn,
  ObjectIs,
  ObjectKeys,
  ObjectPrototypeIsPrototypeOf,
  RegExpPrototypeToString,
  SafeArrayIterator,
  SafeMapIterator,
  SafeSetIterator,
  SetPrototypeGetSize,
  SetPrototypeHas,
  TypedArrayPrototypeGetLength,
} = primordials;

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
  if (ArrayIsArray(actual) || ArrayIsArray(expected)) {
    return ArrayIsArray(actual) && ArrayIsArray(expected) &&
      sameLists(actual, expected, how, open);
  }
  if (core.isDate(actual) || core.isDate(expected)) {
    return core.isDate(actual) && core.isDate(expected) &&
      ObjectIs(DatePrototypeGetTime(actual), DatePrototypeGetTime(expected));
  }
  if (core.isRegExp(actual) || core.isRegExp(expected)) {
    return core.isRegExp(actual) && core.isRegExp(expected) &&
      RegExpPrototypeToString(actual) === RegExpPrototypeToString(expected);
  }
  if (core.isMap(actual) || core.isMap(expected)) {
    return core.isMap(actual) && core.isMap(expected) && sameMaps(actual, expected, how, open);
  }
  if (core.isSet(actual) || core.isSet(expected)) {
    return core.isSet(actual) && core.isSet(expected) && sameSets(actual, expected, how, open);
  }
  if (core.isTypedArray(actual) || core.isTypedArray(expected)) {
    return core.isTypedArray(actual) && core.isTypedArray(expected) &&
      TypedArrayPrototypeGetLength(actual) === TypedArrayPrototypeGetLength(expected) &&
      sameItems(actual, expected, TypedArrayPrototypeGetLength(actual), how, open);
  }
  // A plain object names the properties that an error should have.
  const partOfError = how === "subset" && !isError(expected);
  if (!partOfError && (isError(actual) || isError(expected))) {
    return isError(actual) && isError(expected) && actual.name === expected.name &&
      actual.message === expected.message;
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
  for (const entry of new SafeMapIterator(expected)) {
    if (
      !MapPrototypeHas(actual, entry[0]) ||
      !same(MapPrototypeGet(actual, entry[0]), entry[1], how, open)
    ) return false;
  }
  return true;
}

function sameSets(actual, expected, how, open) {
  if (SetPrototypeGetSize(actual) !== SetPrototypeGetSize(expected)) return false;
  for (const wanted of new SafeSetIterator(expected)) {
    if (SetPrototypeHas(actual, wanted)) continue;
    let found = false;
    for (const item of new SafeSetIterator(actual)) {
      if (same(item, wanted, how, open)) found = true;
    }
    if (!found) return false;
  }
  return true;
}

function sameRecords(actual, expected, how, open) {
  for (const key of new SafeArrayIterator(ObjectKeys(expected))) {
    if (how === "subset" && !(key in actual)) return false;
    if (how === "strict" && !ObjectHasOwn(actual, key)) return false;
    if (!same(actual[key], expected[key], how, open)) return false;
  }
  if (how === "subset") return true;
  for (const key of new SafeArrayIterator(ObjectKeys(actual))) {
    if (ObjectHasOwn(expected, key)) continue;
    if (how === "strict" || actual[key] !== undefined) return false;
  }
  return true;
}

export { equal, isMatcher, Matcher };
