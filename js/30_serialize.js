// Turns any value of a script into JSON text.
//
// The walk runs the script's own code (getters, proxies, `toJSON`) once and copies what it finds
// into objects without prototypes; only that copy is stringified, so nothing a script did to
// `Object.prototype` or `Array.prototype` has a say in it.

import { core, primordials } from "ext:core/mod.js";

const {
  ArrayIsArray,
  ArrayPrototype,
  ArrayPrototypePush,
  BigIntPrototypeToString,
  BigIntPrototypeValueOf,
  BooleanPrototypeValueOf,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  ErrorPrototype,
  FunctionPrototypeCall,
  JSONStringify,
  MapPrototypeForEach,
  Number,
  NumberIsFinite,
  NumberIsSafeInteger,
  NumberPrototypeValueOf,
  ObjectGetPrototypeOf,
  ObjectHasOwn,
  ObjectKeys,
  ObjectPrototype,
  ObjectPrototypeIsPrototypeOf,
  ObjectSetPrototypeOf,
  PromisePrototypeThen,
  PromiseResolve,
  RangeError,
  ReflectDeleteProperty,
  RegExpPrototypeToString,
  SafeArrayIterator,
  SetPrototypeForEach,
  String,
  StringPrototypeToWellFormed,
  StringPrototypeValueOf,
  TypedArrayPrototypeGetLength,
  Uint8Array,
} = primordials;

// Captured here, before any script: the primordials do not have it.
const IteratorPrototype = globalThis.Iterator.prototype;
const AsyncIteratorPrototype = ObjectGetPrototypeOf(
  ObjectGetPrototypeOf(ObjectGetPrototypeOf(async function* () {}())),
);

const { URLSearchParamsPrototype } = core.loadExtScript("ext:deno_web/00_url.js");
const paramsToString = URLSearchParamsPrototype.toString;

const MAX_DEPTH = 100;
// What fits into one message to the broker.
const MAX_CHARS = 16 * 1024 * 1024;

const OMIT = { __proto__: null };

// An array that no setter on `Array.prototype` can see into.
function list() {
  return ObjectSetPrototypeOf([], null);
}

class Copy {
  // Promises and async iterators found inside the value, and where they are to be put.
  waiting = list();
  chars = 0;
  what;

  constructor(what) {
    this.what = what;
  }

  spend(chars) {
    this.chars += chars;
    if (this.chars > MAX_CHARS) {
      throw new TooMuch(
        `${this.what} is larger than ${MAX_CHARS} characters of JSON, the most that fits`,
      );
    }
  }

  string(value) {
    this.spend(value.length + 2);
    return StringPrototypeToWellFormed(value);
  }

  // `ancestors` is the chain of objects that contain this value.
  take(value, key, holder, ancestors) {
    switch (typeof value) {
      case "string":
        return this.string(value);
      case "number":
        this.spend(8);
        return NumberIsFinite(value) ? value : null;
      case "boolean":
        this.spend(5);
        return value;
      case "bigint": {
        this.spend(8);
        const number = Number(value);
        return NumberIsSafeInteger(number)
          ? number
          : this.string(BigIntPrototypeToString(value));
      }
      case "object":
        this.spend(4);
        return value === null ? null : this.object(value, key, holder, ancestors);
      default:
        return OMIT;
    }
  }

  object(value, key, holder, ancestors) {
    for (let at = ancestors; at !== null; at = at.up) {
      if (at.value === value) return this.string("[Circular]");
    }
    const depth = ancestors === null ? 1 : ancestors.depth + 1;
    if (depth > MAX_DEPTH) {
      throw new TooMuch(
        `${this.what} nests deeper than ${MAX_DEPTH} levels; flatten it first`,
      );
    }
    const inside = { __proto__: null, value, depth, up: ancestors, toJSON: undefined };
    const prototype = ObjectGetPrototypeOf(value);
    // Most values are records and lists: they skip the questions below, each of which is an op.
    const ordinary = prototype === ObjectPrototype || prototype === ArrayPrototype ||
      prototype === null;
    if (!ordinary && core.isPromise(value)) {
      ArrayPrototypePush(this.waiting, {
        __proto__: null,
        holder,
        key,
        promise: value,
        ancestors: inside,
      });
      return null;
    }
    const toJSON = value.toJSON;
    // Once, as in `JSON.stringify`: what it gives may have it too, as a copy of its object has.
    if (typeof toJSON === "function" && toJSON !== ancestors?.toJSON) {
      inside.toJSON = toJSON;
      const json = FunctionPrototypeCall(toJSON, value, String(key));
      return json === value
        ? this.record(value, inside)
        : this.take(json, key, holder, inside);
    }
    if (!ordinary && ObjectPrototypeIsPrototypeOf(AsyncIteratorPrototype, value)) {
      ArrayPrototypePush(this.waiting, {
        __proto__: null,
        holder,
        key,
        iterator: value,
        ancestors: inside,
      });
      return null;
    }
    const special = ordinary ? undefined : this.special(value, inside);
    return special === undefined ? this.record(value, inside) : special;
  }

  // Objects whose content is not in their properties.
  special(value, inside) {
    if (core.isMap(value)) return this.map(value, inside);
    if (core.isSet(value)) {
      const items = list();
      SetPrototypeForEach(value, (item) => {
        ArrayPrototypePush(items, item);
      });
      return this.list(items, inside);
    }
    if (core.isTypedArray(value)) {
      const items = list();
      const length = TypedArrayPrototypeGetLength(value);
      for (let i = 0; i < length; i++) {
        this.spend(2);
        ArrayPrototypePush(items, value[i]);
      }
      return this.list(items, inside);
    }
    if (core.isDataView(value)) {
      const bytes = new Uint8Array(
        DataViewPrototypeGetBuffer(value),
        DataViewPrototypeGetByteOffset(value),
        DataViewPrototypeGetByteLength(value),
      );
      return this.special(bytes, inside);
    }
    if (ObjectPrototypeIsPrototypeOf(IteratorPrototype, value)) return this.drain(value, inside);
    if (core.isAnyArrayBuffer(value)) return this.special(new Uint8Array(value), inside);
    if (ObjectPrototypeIsPrototypeOf(ErrorPrototype, value)) return this.error(value, inside);
    if (core.isRegExp(value)) return this.string(RegExpPrototypeToString(value));
    if (core.isStringObject(value)) return this.string(StringPrototypeValueOf(value));
    if (core.isNumberObject(value)) {
      return this.take(NumberPrototypeValueOf(value), "", null, inside);
    }
    if (core.isBooleanObject(value)) return BooleanPrototypeValueOf(value);
    if (core.isBigIntObject(value)) {
      return this.take(BigIntPrototypeValueOf(value), "", null, inside);
    }
    if (ObjectPrototypeIsPrototypeOf(URLSearchParamsPrototype, value)) {
      return this.string(FunctionPrototypeCall(paramsToString, value));
    }
    return undefined;
  }

  // Iterators and generators: what they would give a loop.
  drain(iterator, inside) {
    const copy = list();
    for (const value of iterator) this.append(copy, value, inside);
    return copy;
  }

  async drainLater(iterator, inside) {
    const copy = list();
    for await (const value of iterator) this.append(copy, value, inside);
    return copy;
  }

  append(copy, value, inside) {
    const item = this.take(value, copy.length, copy, inside);
    this.spend(4);
    ArrayPrototypePush(copy, item === OMIT ? null : item);
  }

  error(value, inside) {
    const copy = this.record(value, inside);
    const name = value.name;
    const message = value.message;
    if (!ObjectHasOwn(copy, "name")) copy.name = this.string(String(name));
    if (!ObjectHasOwn(copy, "message")) copy.message = this.string(String(message));
    for (const key of new SafeArrayIterator(["cause", "errors", "error", "suppressed"])) {
      if (ObjectHasOwn(value, key) && !ObjectHasOwn(copy, key)) {
        this.field(copy, key, value[key], inside);
      }
    }
    return copy;
  }

  map(value, inside) {
    let named = true;
    const entries = list();
    MapPrototypeForEach(value, (item, key) => {
      if (typeof key !== "string") named = false;
      ArrayPrototypePush(entries, { __proto__: null, key, item });
    });
    if (!named) return this.pairs(entries, inside);
    const copy = { __proto__: null };
    for (let i = 0; i < entries.length; i++) {
      this.field(copy, entries[i].key, entries[i].item, inside);
    }
    return copy;
  }

  pairs(entries, inside) {
    const copy = list();
    for (let i = 0; i < entries.length; i++) {
      const pair = list();
      ArrayPrototypePush(pair, entries[i].key);
      ArrayPrototypePush(pair, entries[i].item);
      ArrayPrototypePush(copy, this.list(pair, inside));
    }
    return copy;
  }

  record(value, inside) {
    if (ArrayIsArray(value)) return this.list(value, inside);
    const copy = { __proto__: null };
    const keys = ObjectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      this.field(copy, keys[i], value[keys[i]], inside);
    }
    return copy;
  }

  field(copy, name, value, inside) {
    const key = this.string(name);
    const item = this.take(value, key, copy, inside);
    if (item !== OMIT) copy[key] = item;
  }

  list(items, inside) {
    // Without its prototype no `toJSON` can be planted on it.
    const copy = list();
    const length = items.length;
    for (let i = 0; i < length; i++) {
      const item = this.take(items[i], i, copy, inside);
      if (item === OMIT) this.spend(4);
      copy[i] = item === OMIT ? null : item;
    }
    return copy;
  }
}

// More than a message can carry. The brand tells it from an error a script made up.
class TooMuch extends RangeError {
  #brand = true;
  static is(value) {
    return #brand in value;
  }
}

function isTooMuch(error) {
  return TooMuch.is(error);
}

// JSON text, or `undefined` for what JSON has no word for. If there are promises or async iterators
// inside `value`, however deep, a promise of that: only then, so that calls leave in the order they
// were written. `what` is the subject of a complaint.
function toJson(value, what) {
  const copy = new Copy(what);
  const root = { __proto__: null };
  const top = copy.take(value, "", root, null);
  if (top === OMIT) return undefined;
  root[""] = top;
  return copy.waiting.length === 0 ? JSONStringify(top) : awaitAll(copy, root);
}

async function awaitAll(copy, root) {
  while (copy.waiting.length > 0) {
    const waiting = copy.waiting;
    copy.waiting = list();
    for (const slot of new SafeArrayIterator(waiting)) {
      if (slot.iterator !== undefined) continue;
      slot.promise = PromiseResolve(slot.promise);
      // Its turn comes: until then nobody should call it unhandled.
      PromisePrototypeThen(slot.promise, undefined, () => {});
    }
    for (const slot of new SafeArrayIterator(waiting)) {
      const item = slot.iterator !== undefined
        ? await copy.drainLater(slot.iterator, slot.ancestors)
        : copy.take(
          await slot.promise,
          slot.key,
          slot.holder,
          slot.ancestors,
        );
      if (item === OMIT && !ArrayIsArray(slot.holder)) {
        ReflectDeleteProperty(slot.holder, slot.key);
      } else {
        slot.holder[slot.key] = item === OMIT ? null : item;
      }
    }
  }
  return JSONStringify(root[""]);
}

export { isTooMuch, list, toJson };
