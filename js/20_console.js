// The console: values are printed as Deno prints them, and every line goes to the broker with
// its level instead of to a terminal.

import { core, primordials } from "ext:core/mod.js";
import { op_log } from "ext:core/ops";

const {
  ArrayPrototypePush,
  ObjectDefineProperty,
  ReflectApply,
  ReflectOwnKeys,
  SafeArrayIterator,
  StringPrototypeEndsWith,
  StringPrototypeSlice,
} = primordials;

const { Console, inspect, setNoColorFns } = core.loadExtScript(
  "ext:deno_web/01_console.js",
);

// Deno's levels do not tell `log` from `info`: the method that is running does.
const LEVELS = { __proto__: null, debug: 0, info: 2, warn: 3, error: 4, trace: 4, assert: 4 };
const LOG = 1;
const WARN = 3;
const ERROR = 4;
let current = LOG;
let tracing = false;

function print(text, denoLevel) {
  // Deno prints a trace and its line end in two steps.
  if (tracing && text === "\n") return;
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
          current = level;
          tracing = name === "trace";
          try {
            return ReflectApply(method, inner, args);
          } finally {
            current = LOG;
            tracing = false;
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

export { createConsole, inspect };
