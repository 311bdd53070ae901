// Diffs of two values, for the messages of failed tests.

import { primordials } from "ext:core/mod.js";
import { inspect } from "ext:pml/20_console.js";
import { list } from "ext:pml/30_serialize.js";
import { equal, isMatcher } from "ext:pml/70_equality.js";

const {
  ArrayIsArray,
  ArrayPrototypeJoin,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  MathMax,
  MathMin,
  ObjectHasOwn,
  ObjectKeys,
  SafeArrayIterator,
  StringPrototypeSlice,
  StringPrototypeSplit,
  Uint16Array,
} = primordials;

const MAX_TEXT = 20_000;
const MAX_LINES = 400;
// Context lines around a changed line.
const CONTEXT = 2;
// For values that are too large to print: differing paths that are listed, and the depth searched.
const MAX_PATHS = 10;
const MAX_DEPTH = 20;

function show(value) {
  let text;
  try {
    text = inspect(value, {
      depth: 12,
      sorted: true,
      compact: false,
      trailingComma: true,
      iterableLimit: 1_000,
      strAbbreviateSize: MAX_TEXT,
    });
  } catch {
    text = "(a value that cannot be inspected)";
  }
  return text.length > MAX_TEXT ? `${StringPrototypeSlice(text, 0, MAX_TEXT)}...` : text;
}

// A value on one line, to be quoted in a message.
function brief(value) {
  let text;
  try {
    text = inspect(value, { depth: 3, sorted: true, breakLength: 1_000_000 });
  } catch {
    text = "(a value that cannot be inspected)";
  }
  return text.length > 300 ? `${StringPrototypeSlice(text, 0, 300)}...` : text;
}

// `mode` is that of `equal`.
function diff(expected, actual, mode = "loose") {
  const old = show(expected);
  const fresh = show(actual);
  return isLong(old) || isLong(fresh)
    ? diffPaths(expected, actual, mode)
    : diffLines(old, fresh);
}

function isLong(text) {
  return text.length > MAX_TEXT || StringPrototypeSplit(text, "\n").length > MAX_LINES;
}

// Lines with `-` are expected, lines with `+` are actual.
function diffLines(expected, actual) {
  const old = StringPrototypeSplit(expected, "\n");
  const fresh = StringPrototypeSplit(actual, "\n");
  // Only the lines between the common prefix and the common suffix are aligned.
  const shorter = MathMin(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) {
    tail++;
  }
  const from = MathMax(head - CONTEXT - 1, 0);
  const without = MathMax(tail - CONTEXT - 1, 0);
  const part = (lines) =>
    ArrayPrototypeSlice(lines, from, MathMin(lines.length - without, from + MAX_LINES));
  return ArrayPrototypeJoin(shorten(align(part(old), part(fresh))), "\n");
}

// The paths at which two values differ, with both values there.
function diffPaths(expected, actual, mode) {
  const found = list();
  findPaths(expected, actual, mode, "", 0, found);
  const shown = [];
  for (let i = 0; i < found.length && i < MAX_PATHS; i++) {
    const { path, expected, actual } = found[i];
    if (path !== "") ArrayPrototypePush(shown, `  at ${path}:`);
    const [old, fresh] = briefPair(expected, actual);
    ArrayPrototypePush(shown, `- ${old}`, `+ ${fresh}`);
  }
  if (found.length > MAX_PATHS) ArrayPrototypePush(shown, "  ...");
  return ArrayPrototypeJoin(shown, "\n");
}

// Collects one path more than is shown, so that the caller knows whether there are more.
function findPaths(expected, actual, mode, path, depth, found) {
  if (found.length > MAX_PATHS || equal(actual, expected, mode)) return;
  const before = found.length;
  if (depth < MAX_DEPTH && isSameShape(expected, actual)) {
    const isList = ArrayIsArray(expected);
    const descend = (key, step) =>
      findPaths(expected[key], actual[key], mode, path + step, depth + 1, found);
    const named = (key) => descend(key, depth === 0 ? key : `.${key}`);
    const inside = (key) => isList ? descend(key, `[${key}]`) : named(key);
    if (isList) named("length");
    for (const key of new SafeArrayIterator(ObjectKeys(expected))) inside(key);
    if (mode !== "subset") {
      for (const key of new SafeArrayIterator(ObjectKeys(actual))) {
        if (!ObjectHasOwn(expected, key)) inside(key);
      }
    }
  }
  // No property differs: the values themselves do.
  if (found.length === before) {
    ArrayPrototypePush(found, { __proto__: null, path, expected, actual });
  }
}

function isSameShape(expected, actual) {
  return typeof expected === "object" && expected !== null && !isMatcher(expected) &&
    typeof actual === "object" && actual !== null &&
    ArrayIsArray(expected) === ArrayIsArray(actual);
}

// Both values in brief; two strings start shortly before their first difference.
function briefPair(expected, actual) {
  if (typeof expected !== "string" || typeof actual !== "string") {
    return [brief(expected), brief(actual)];
  }
  let same = 0;
  while (same < expected.length && expected[same] === actual[same]) same++;
  const from = MathMax(same - 40, 0);
  const part = (text) => (from > 0 ? "..." : "") + brief(StringPrototypeSlice(text, from));
  return [part(expected), part(actual)];
}

// Aligns two lists of lines by their longest common subsequence.
function align(old, fresh) {
  const width = fresh.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      longest[i * width + j] = old[i] === fresh[j]
        ? longest[(i + 1) * width + j + 1] + 1
        : MathMax(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const lines = list();
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      ArrayPrototypePush(lines, { __proto__: null, mark: " ", text: old[i] });
      i++;
      j++;
    } else if (
      j === fresh.length ||
      (i < old.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])
    ) {
      ArrayPrototypePush(lines, { __proto__: null, mark: "-", text: old[i++] });
    } else {
      ArrayPrototypePush(lines, { __proto__: null, mark: "+", text: fresh[j++] });
    }
  }
  return lines;
}

function shorten(lines) {
  const shown = [];
  let skipped = false;
  for (let i = 0; i < lines.length; i++) {
    let near = false;
    for (let j = i - CONTEXT; j <= i + CONTEXT; j++) {
      if (j >= 0 && j < lines.length && lines[j].mark !== " ") near = true;
    }
    if (near) {
      ArrayPrototypePush(shown, `${lines[i].mark} ${lines[i].text}`);
    } else if (!skipped) {
      ArrayPrototypePush(shown, "  ...");
    }
    skipped = !near;
  }
  return shown;
}

export { brief, diff, diffLines };
