// The console: values are printed as Deno prints them, and every line goes to the broker with
// its level instead of to a terminal.

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

// Deno's levels do not tell `log` from `info`: the method that is running does.
const LEVELS = { __proto__: null, debug: 0, info: 2, warn: 3, error: 4, assert: 4 };
const LOG = 1;
const WARN = 3;
const ERROR = 4;
let current = LOG;

function print(text, denoLevel) {
  const line = StringPrototypeEndsWith(text, "\n")
    ? StringPrototypeSlice(text, 0, text.length - 1)
    : text;
  const level = current !== LOG
    ? current
    : denoLevel === 2
    ? WARN
    : denoLevel === 3
    ? ERROR
    : LOG;
  op_log(level, line);
}

// Text beyond this is cut before it is formatted and sent: it ends the run in any case.
let logLimit = 0;

function limitLogs(bytes) {
  logLimit = bytes;
}

function tooLong(args) {
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
      // A method of its own object: `const { log } = console` works as everywhere else.
      value: {
        [name](...args) {
          if (tooLong(args)) {
            op_log(level, StringPrototypeRepeat(" ", logLimit + 1));
            return;
          }
          current = level;
          try {
            return ReflectApply(method, inner, args);
          } finally {
            current = LOG;
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
  // Deno's own would show the frames of this file.
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

export { createConsole, inspect, limitLogs };
