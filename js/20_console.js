// The console. Values are formatted by Deno's `inspect`; each line is sent to the broker with its
// level instead of to a terminal.

import { core, primordials } from "ext:core/mod.js";
import { op_log } from "ext:core/ops";

const {
  ArrayPrototypePush,
  ErrorCaptureStackTrace,
  ObjectDefineProperty,
  ReflectApply,
  ReflectOwnKeys,
  SafeArrayIterator,
  StringPrototypeEndsWith,
  StringPrototypeRepeat,
  StringPrototypeSlice,
  SymbolToStringTag,
} = primordials;

const { Console, inspect, inspectArgs, setNoColorFns } = core.loadExtScript(
  "ext:deno_web/01_console.js",
);

// Deno's `print` levels do not distinguish `log` from `info`, so the running method sets the level.
const LEVELS = { __proto__: null, debug: 0, info: 2, warn: 3, error: 4, assert: 4 };
const LOG = 1;
const WARN = 3;
const ERROR = 4;
let currentLevel = LOG;

function print(text, denoLevel) {
  const line = StringPrototypeEndsWith(text, "\n")
    ? StringPrototypeSlice(text, 0, text.length - 1)
    : text;
  const level = currentLevel !== LOG
    ? currentLevel
    : denoLevel === 2
    ? WARN
    : denoLevel === 3
    ? ERROR
    : LOG;
  op_log(level, line);
}

// Text over this limit ends the run, so it is not formatted: a filler of limit + 1 is sent instead.
let logLimit = 0;

function setLogLimit(bytes) {
  logLimit = bytes;
}

function exceedsLogLimit(args) {
  let length = 0;
  for (const arg of new SafeArrayIterator(args)) {
    if (typeof arg === "string") length += arg.length;
  }
  return length > logLimit;
}

function createConsole() {
  setNoColorFns(() => true, () => true);
  const inner = new Console(print);
  const console = { __proto__: {} };
  for (const name of new SafeArrayIterator(consoleMethods(inner))) {
    const method = inner[name];
    const level = LEVELS[name] ?? LOG;
    ObjectDefineProperty(console, name, {
      __proto__: null,
      // A method that does not use `this`: `const { log } = console` works.
      value: {
        [name](...args) {
          if (exceedsLogLimit(args)) {
            op_log(level, StringPrototypeRepeat(" ", logLimit + 1));
            return;
          }
          currentLevel = level;
          try {
            return ReflectApply(method, inner, args);
          } finally {
            currentLevel = LOG;
          }
        },
      }[name],
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  // There is no terminal to clear.
  console.clear = function clear() {};
  // Deno's `trace` would include the frames of this file.
  console.trace = function trace(...args) {
    const holder = { name: "Trace", message: inspectArgs(args, { colors: false }) };
    ErrorCaptureStackTrace(holder, trace);
    op_log(ERROR, holder.stack);
  };
  ObjectDefineProperty(console, SymbolToStringTag, {
    __proto__: null,
    value: "console",
    configurable: true,
  });
  return console;
}

function consoleMethods(inner) {
  const names = [];
  for (const key of new SafeArrayIterator(ReflectOwnKeys(inner))) {
    if (typeof key === "string" && typeof inner[key] === "function") {
      ArrayPrototypePush(names, key);
    }
  }
  return names;
}

export { createConsole, inspect, setLogLimit };
