// Serializes any value of a script to JSON text.
//
// The walk runs the script's code (getters, proxies, `toJSON`) once and copies the values into
// null-prototype objects. Only that copy is stringified, so changes to `Object.prototype` or
// `Array.prototype` have no effect on it.

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

// Captured before any script runs: the primordials do not include them.
const IteratorPrototype = globalThis.Iterator.prototype;
const AsyncIteratorPrototype = ObjectGetPrototypeOf(
  ObjectGetPrototypeOf(ObjectGetPrototypeOf(async function* () {}())),
);

const { URLSearchParamsPrototype } = core.loadExtScript("ext:deno_web/00_url.js");
const paramsToString = URLSearchParamsPrototype.toString;

const MAX_DEPTH = 100;
// The largest message to the broker.
const MAX_CHARS = 16 * 1024 * 1024;

const OMIT = { __proto__: null };

// A null-prototype array: a setter that a script puts on `Array.prototype` is never called for it.
function list() {
  return ObjectSetPrototypeOf([], null);
}

class Serializer {
  // Promises and async iterators found inside the value, each with the slot for its result.
  pending = list();
  chars = 0;
  // Subject of error messages.
  subject;

  constructor(subject) {
    this.subject = subject;
  }

  addChars(chars) {
    this.chars += chars;
    if (this.chars > MAX_CHARS) {
      throw new TooLargeError(
        `${this.subject} is larger than the limit of ${MAX_CHARS} characters of JSON`,
      );
    }
  }

  string(value) {
    this.addChars(value.length + 2);
    return StringPrototypeToWellFormed(value);
  }

  // `ancestors` is the linked list of objects that contain this value.
  copy(value, key, holder, ancestors) {
    switch (typeof value) {
      case "string":
        return this.string(value);
      case "number":
        this.addChars(8);
        return NumberIsFinite(value) ? value : null;
      case "boolean":
        this.addChars(5);
        return value;
      case "bigint": {
        this.addChars(8);
        const number = Number(value);
        return NumberIsSafeInteger(number)
          ? number
          : this.string(BigIntPrototypeToString(value));
      }
      case "object":
        this.addChars(4);
        return value === null ? null : this.object(value, key, holder, ancestors);
      default:
        return OMIT;
    }
  }

  object(value, key, holder, ancestors) {
    for (let at = ancestors; at !== null; at = at.parent) {
      if (at.value === value) return this.string("[Circular]");
    }
    const depth = ancestors === null ? 1 : ancestors.depth + 1;
    if (depth > MAX_DEPTH) {
      throw new TooLargeError(
        `${this.subject} nests deeper than ${MAX_DEPTH} levels; flatten it first`,
      );
    }
    const inside = { __proto__: null, value, depth, parent: ancestors, toJSON: undefined };
    const prototype = ObjectGetPrototypeOf(value);
    // Most values are plain objects and arrays: they skip the checks below, each of which is an op.
    const ordinary = prototype === ObjectPrototype || prototype === ArrayPrototype ||
      prototype === null;
    if (!ordinary && core.isPromise(value)) {
      ArrayPrototypePush(this.pending, {
        __proto__: null,
        holder,
        key,
        promise: value,
        ancestors: inside,
      });
      return null;
    }
    const toJSON = value.toJSON;
    // Called once, as by `JSON.stringify`: its return value may inherit the same `toJSON`.
    if (typeof toJSON === "function" && toJSON !== ancestors?.toJSON) {
      inside.toJSON = toJSON;
      const json = FunctionPrototypeCall(toJSON, value, String(key));
      return json === value
        ? this.record(value, inside)
        : this.copy(json, key, holder, inside);
    }
    if (!ordinary && ObjectPrototypeIsPrototypeOf(AsyncIteratorPrototype, value)) {
      ArrayPrototypePush(this.pending, {
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

  // Objects whose content is not in their properties: collections, buffers, errors, wrappers.
  special(value, inside) {
    if (core.isMap(value)) return this.map(value, inside);
    if (core.isSet(value)) {
      const items = list();
      SetPrototypeForEach(value, (item) => {
        ArrayPrototypePush(items, item);
      });
      return this.array(items, inside);
    }
    if (core.isTypedArray(value)) {
      const items = list();
      const length = TypedArrayPrototypeGetLength(value);
      for (let i = 0; i < length; i++) {
        this.addChars(2);
        ArrayPrototypePush(items, value[i]);
      }
      return this.array(items, inside);
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
      return this.copy(NumberPrototypeValueOf(value), "", null, inside);
    }
    if (core.isBooleanObject(value)) return BooleanPrototypeValueOf(value);
    if (core.isBigIntObject(value)) {
      return this.copy(BigIntPrototypeValueOf(value), "", null, inside);
    }
    if (ObjectPrototypeIsPrototypeOf(URLSearchParamsPrototype, value)) {
      return this.string(FunctionPrototypeCall(paramsToString, value));
    }
    return undefined;
  }

  // Iterators and generators: the values that a `for` loop over them would see.
  drain(iterator, inside) {
    const copy = list();
    for (const value of iterator) this.append(copy, value, inside);
    return copy;
  }

  async drainAsync(iterator, inside) {
    const copy = list();
    for await (const value of iterator) this.append(copy, value, inside);
    return copy;
  }

  append(copy, value, inside) {
    const item = this.copy(value, copy.length, copy, inside);
    this.addChars(4);
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
      ArrayPrototypePush(copy, this.array(pair, inside));
    }
    return copy;
  }

  record(value, inside) {
    if (ArrayIsArray(value)) return this.array(value, inside);
    const copy = { __proto__: null };
    const keys = ObjectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      this.field(copy, keys[i], value[keys[i]], inside);
    }
    return copy;
  }

  field(copy, name, value, inside) {
    const key = this.string(name);
    const item = this.copy(value, key, copy, inside);
    if (item !== OMIT) copy[key] = item;
  }

  array(items, inside) {
    // A null prototype: no `toJSON` can be injected through `Array.prototype`.
    const copy = list();
    const length = items.length;
    for (let i = 0; i < length; i++) {
      const item = this.copy(items[i], i, copy, inside);
      if (item === OMIT) this.addChars(4);
      copy[i] = item === OMIT ? null : item;
    }
    return copy;
  }
}

// The value does not fit into a message. The private brand cannot be forged by a script.
class TooLargeError extends RangeError {
  #brand = true;
  static is(value) {
    return #brand in value;
  }
}

function isTooLarge(error) {
  return TooLargeError.is(error);
}

// Returns JSON text, or `undefined` for a value that JSON cannot represent. If `value` contains
// promises or async iterators at any depth, it returns a promise of that; only then, so that tool
// calls are sent in the order in which they were written. `subject` starts an error message.
function toJson(value, subject) {
  const serializer = new Serializer(subject);
  const root = { __proto__: null };
  const top = serializer.copy(value, "", root, null);
  if (top === OMIT) return undefined;
  root[""] = top;
  return serializer.pending.length === 0 ? JSONStringify(top) : awaitPending(serializer, root);
}

async function awaitPending(serializer, root) {
  while (serializer.pending.length > 0) {
    const pending = serializer.pending;
    serializer.pending = list();
    for (const slot of new SafeArrayIterator(pending)) {
      if (slot.iterator !== undefined) continue;
      slot.promise = PromiseResolve(slot.promise);
      // It is awaited below; until then it must not count as an unhandled rejection.
      PromisePrototypeThen(slot.promise, undefined, () => {});
    }
    for (const slot of new SafeArrayIterator(pending)) {
      const item = slot.iterator !== undefined
        ? await serializer.drainAsync(slot.iterator, slot.ancestors)
        : serializer.copy(
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

export { isTooLarge, list, toJson };
