// Two values side by side, for whoever reads why a test failed.

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
// Lines without a difference that are kept around one.
const AROUND = 2;
// Of values that are too large to be shown whole: places where they differ, and how deep to look.
const MAX_PLACES = 10;
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
    text = "(a value that cannot be shown)";
  }
  return text.length > MAX_TEXT ? `${StringPrototypeSlice(text, 0, MAX_TEXT)}...` : text;
}

// A value on one line, where a sentence mentions it.
function brief(value) {
  let text;
  try {
    text = inspect(value, { depth: 3, sorted: true, breakLength: 1_000_000 });
  } catch {
    text = "(a value that cannot be shown)";
  }
  return text.length > 300 ? `${StringPrototypeSlice(text, 0, 300)}...` : text;
}

// `how` is that of `equal`.
function difference(expected, actual, how = "loose") {
  const old = show(expected);
  const fresh = show(actual);
  return isLong(old) || isLong(fresh)
    ? places(expected, actual, how)
    : lineDifference(old, fresh);
}

function isLong(text) {
  return text.length > MAX_TEXT || StringPrototypeSplit(text, "\n").length > MAX_LINES;
}

// Lines with `-` are expected, lines with `+` are what there was.
function lineDifference(expected, actual) {
  const old = StringPrototypeSplit(expected, "\n");
  const fresh = StringPrototypeSplit(actual, "\n");
  // Only what lies between the common beginning and the common end is aligned.
  const shorter = MathMin(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) {
    tail++;
  }
  const from = MathMax(head - AROUND - 1, 0);
  const without = MathMax(tail - AROUND - 1, 0);
  const part = (lines) =>
    ArrayPrototypeSlice(lines, from, MathMin(lines.length - without, from + MAX_LINES));
  return ArrayPrototypeJoin(shorten(align(part(old), part(fresh))), "\n");
}

// Where two values differ, with what is there.
function places(expected, actual, how) {
  const found = list();
  findPlaces(expected, actual, how, "", 0, found);
  const shown = [];
  for (let i = 0; i < found.length && i < MAX_PLACES; i++) {
    const { path, expected, actual } = found[i];
    if (path !== "") ArrayPrototypePush(shown, `  at ${path}:`);
    const [old, fresh] = pair(expected, actual);
    ArrayPrototypePush(shown, `- ${old}`, `+ ${fresh}`);
  }
  if (found.length > MAX_PLACES) ArrayPrototypePush(shown, "  ...");
  return ArrayPrototypeJoin(shown, "\n");
}

// Finds one more than are shown.
function findPlaces(expected, actual, how, path, depth, found) {
  if (found.length > MAX_PLACES || equal(actual, expected, how)) return;
  const before = found.length;
  if (depth < MAX_DEPTH && isAlike(expected, actual)) {
    const isList = ArrayIsArray(expected);
    const look = (key, step) =>
      findPlaces(expected[key], actual[key], how, path + step, depth + 1, found);
    const named = (key) => look(key, depth === 0 ? key : `.${key}`);
    const inside = (key) => isList ? look(key, `[${key}]`) : named(key);
    if (isList) named("length");
    for (const key of new SafeArrayIterator(ObjectKeys(expected))) inside(key);
    if (how !== "subset") {
      for (const key of new SafeArrayIterator(ObjectKeys(actual))) {
        if (!ObjectHasOwn(expected, key)) inside(key);
      }
    }
  }
  // The difference is not in what they hold.
  if (found.length === before) {
    ArrayPrototypePush(found, { __proto__: null, path, expected, actual });
  }
}

function isAlike(expected, actual) {
  return typeof expected === "object" && expected !== null && !isMatcher(expected) &&
    typeof actual === "object" && actual !== null &&
    ArrayIsArray(expected) === ArrayIsArray(actual);
}

// Both in brief; of long texts, what is around the first difference.
function pair(expected, actual) {
  if (typeof expected !== "string" || typeof actual !== "string") {
    return [brief(expected), brief(actual)];
  }
  let same = 0;
  while (same < expected.length && expected[same] === actual[same]) same++;
  const from = MathMax(same - 40, 0);
  const part = (text) => (from > 0 ? "..." : "") + brief(StringPrototypeSlice(text, from));
  return [part(expected), part(actual)];
}

// The longest common lines stay; the rest is taken away or added.
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
    for (let j = i - AROUND; j <= i + AROUND; j++) {
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

function words(values) {
  const texts = [];
  for (const value of new SafeArrayIterator(values)) ArrayPrototypePush(texts, brief(value));
  return ArrayPrototypeJoin(texts, ", ");
}

export { brief, difference, lineDifference, words };
