// The web globals of a script: URL, timers, text encoding, events, abort signals, crypto,
// performance. Most come from Deno's `deno_web` extension; none does I/O outside the isolate.

import { core, primordials } from "ext:core/mod.js";
import { op_random_fill, op_structured_clone } from "ext:core/ops";

// DOMException names that the ops of deno_web throw.
const DOM_EXCEPTIONS = [
  "DataCloneError",
  "IndexSizeError",
  "InvalidCharacterError",
  "InvalidStateError",
  "NotSupportedError",
  "OperationError",
  "SyntaxError",
];

const {
  ArrayBufferIsView,
  ArrayBufferPrototypeTransfer,
  ArrayPrototypePush,
  DateNow,
  EvalError,
  MathFloor,
  NumberPrototypeToString,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectHasOwn,
  ObjectPrototypeIsPrototypeOf,
  ObjectSetPrototypeOf,
  ReflectApply,
  SafeArrayIterator,
  StringPrototypePadStart,
  StringPrototypeSlice,
  SymbolIterator,
  SymbolToStringTag,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetSymbolToStringTag,
  TypeError,
  TypeErrorPrototype,
  Uint8Array,
} = primordials;

const { URL, URLSearchParams } = core.loadExtScript("ext:deno_web/00_url.js");
const { DOMException, QuotaExceededError } = core.loadExtScript(
  "ext:deno_web/01_dom_exception.js",
);
const { CustomEvent, Event, EventTarget } = core.loadExtScript(
  "ext:deno_web/02_event.js",
);
const {
  clearInterval,
  clearTimeout,
  setInterval: startInterval,
  setTimeout: startTimeout,
} = core.loadExtScript("ext:deno_web/02_timers.js");
const { AbortController, AbortSignal } = core.loadExtScript(
  "ext:deno_web/03_abort_signal.js",
);
const { atob, btoa } = core.loadExtScript("ext:deno_web/05_base64.js");
const { TextDecoder, TextEncoder } = core.loadExtScript(
  "ext:deno_web/08_text_encoding.js",
);

for (const name of new SafeArrayIterator(DOM_EXCEPTIONS)) {
  core.registerErrorBuilder(
    `DOMException${name}`,
    (message) => new DOMException(message, name),
  );
}

// Deno's timers compile a non-function callback as code when the timer fires, and the error has no
// position in the script then. So the callback is checked in the call.
function checkCallback(callback, name) {
  if (typeof callback === "function") return;
  if (typeof callback === "string") {
    throw new EvalError(
      `Code generation from strings disallowed: ${name} needs a function to call, not text`,
    );
  }
  const given = callback === null ? "null" : typeof callback;
  throw new TypeError(`${name} needs a function to call, not ${given}`);
}

function setInterval(callback) {
  checkCallback(callback, "setInterval");
  return ReflectApply(startInterval, this, arguments);
}

function setTimeout(callback) {
  checkCallback(callback, "setTimeout");
  return ReflectApply(startTimeout, this, arguments);
}

const reviveException = core.getCloneableDeserializers().DOMException;

// Replaces Deno's clone, which trusts any object with the (public) host object brand and aborts the
// process if no deserializer is registered for it. Without a registry the op throws instead, also
// for a DOMException nested inside the value.
function clone(value) {
  if (isDOMException(value)) return reviveException(value[core.hostObjectBrand]());
  try {
    return op_structured_clone(value, undefined);
  } catch (error) {
    if (ObjectPrototypeIsPrototypeOf(TypeErrorPrototype, error)) {
      throw new DOMException(error.message, "DataCloneError");
    }
    if (error?.message === "could not deserialize value") {
      throw new DOMException(
        "A DOMException nested inside another value cannot be cloned",
        "DataCloneError",
      );
    }
    throw error;
  }
}

function isDOMException(value) {
  return core.isNativeError(value) && ObjectHasOwn(value, core.hostObjectBrand) &&
    ObjectPrototypeIsPrototypeOf(DOMException.prototype, value);
}

function structuredClone(value, options = undefined) {
  if (arguments.length === 0) throw new TypeError("structuredClone needs a value to copy");
  const buffers = transferList(options?.transfer);
  const cloned = clone(value);
  for (const buffer of new SafeArrayIterator(buffers)) {
    ArrayBufferPrototypeTransfer(buffer);
  }
  return cloned;
}

function transferList(list) {
  const buffers = ObjectSetPrototypeOf([], null);
  if (list === undefined) return buffers;
  if (typeof list?.[SymbolIterator] !== "function") {
    throw new TypeError("structuredClone takes an iterable of array buffers as `transfer`");
  }
  for (const buffer of list) {
    if (!core.isArrayBuffer(buffer)) {
      throw new DOMException("Only array buffers can be transferred", "DataCloneError");
    }
    ArrayPrototypePush(buffers, buffer);
  }
  return buffers;
}

// 100 microseconds: fine enough to find the slow half of a script, too coarse for a cache timing
// attack.
const CLOCK_RESOLUTION_MS = 0.1;
let origin = 0;

// The virtual clock replaces `elapsedMs`, `epochMs` and `fillRandom`: see 45_virtual_clock.js.
const realElapsedMs = () => core.ops.op_timer_now() - origin;
let elapsedMs = realElapsedMs;
let epochMs = DateNow;
let fillRandom = op_random_fill;

class Performance {
  now() {
    const elapsed = elapsedMs();
    return MathFloor(elapsed / CLOCK_RESOLUTION_MS) * CLOCK_RESOLUTION_MS;
  }
  get timeOrigin() {
    return epochMs() - MathFloor(this.now());
  }
  toJSON() {
    return { timeOrigin: this.timeOrigin };
  }
  get [SymbolToStringTag]() {
    return "Performance";
  }
}

const MAX_RANDOM_BYTES = 65536;

class Crypto {
  getRandomValues(array) {
    if (!ArrayBufferIsView(array)) {
      throw new TypeError("crypto.getRandomValues needs an integer typed array");
    }
    const tag = TypedArrayPrototypeGetSymbolToStringTag(array);
    if (
      tag === undefined || tag === "Float16Array" || tag === "Float32Array" ||
      tag === "Float64Array"
    ) {
      throw new DOMException(
        "crypto.getRandomValues needs an integer typed array",
        "TypeMismatchError",
      );
    }
    const length = TypedArrayPrototypeGetByteLength(array);
    if (length > MAX_RANDOM_BYTES) {
      throw new QuotaExceededError(
        `crypto.getRandomValues fills at most ${MAX_RANDOM_BYTES} bytes at once, not ${length}`,
      );
    }
    fillRandom(
      new Uint8Array(
        TypedArrayPrototypeGetBuffer(array),
        TypedArrayPrototypeGetByteOffset(array),
        length,
      ),
    );
    return array;
  }

  randomUUID() {
    const bytes = new Uint8Array(16);
    fillRandom(bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = "";
    for (let i = 0; i < 16; i++) {
      hex += StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, "0");
    }
    const part = (from, to) => StringPrototypeSlice(hex, from, to);
    return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
  }

  get [SymbolToStringTag]() {
    return "Crypto";
  }
}

const GLOBALS = ObjectFreeze({
  __proto__: null,
  AbortController,
  AbortSignal,
  CustomEvent,
  DOMException,
  Event,
  EventTarget,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  clearInterval,
  clearTimeout,
  crypto: new Crypto(),
  performance: new Performance(),
  queueMicrotask: globalThis.queueMicrotask,
  setInterval,
  setTimeout,
  structuredClone,
});

// Their state is in private or symbol fields, so cloning their properties would give an empty
// object. The brand makes the clone op refuse them.
const NOT_CLONEABLE = [
  AbortController,
  Crypto,
  Event,
  EventTarget,
  Performance,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
];
for (const type of new SafeArrayIterator(NOT_CLONEABLE)) {
  ObjectDefineProperty(type.prototype, core.hostObjectBrand, {
    __proto__: null,
    value: type.name,
  });
}

function defineWebGlobals(target) {
  for (const name in GLOBALS) {
    defineGlobal(target, name, GLOBALS[name]);
  }
}

// As on the web: not enumerable, and replaceable by the script.
function defineGlobal(target, name, value) {
  ObjectDefineProperty(target, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

function startClock() {
  origin = core.ops.op_timer_now();
}

function replaceClock(elapsed, epoch) {
  elapsedMs = elapsed;
  epochMs = epoch;
}

function replaceRandomFill(fill) {
  fillRandom = fill;
}

function restoreClockAndRandom() {
  replaceClock(realElapsedMs, DateNow);
  replaceRandomFill(op_random_fill);
}

// Deno's timers check their receiver (`this`), so they are wrapped.
const realTimers = {
  __proto__: null,
  clearTimeout: (id) => clearTimeout(id),
  setTimeout: (callback, ms) => startTimeout(callback, ms),
};

export {
  checkCallback,
  defineGlobal,
  defineWebGlobals,
  realTimers,
  replaceClock,
  replaceRandomFill,
  restoreClockAndRandom,
  startClock,
};
