// Two values side by side, for whoever reads why a test failed.

import { primordials } from "ext:core/mod.js";
import { inspect } from "ext:pml/20_console.js";
import { list } from "ext:pml/30_plain.js";

const {
  ArrayPrototypeJoin,
  ArrayPrototypePush,
  MathMax,
  SafeArrayIterator,
  StringPrototypeSlice,
  StringPrototypeSplit,
  Uint16Array,
} = primordials;

const MAX_TEXT = 20_000;
const MAX_LINES = 400;
// Lines without a difference that are kept around one.
const AROUND = 2;

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

function difference(expected, actual) {
  return lineDifference(show(expected), show(actual));
}

// Lines with `-` are expected, lines with `+` are what there was.
function lineDifference(expected, actual) {
  const old = StringPrototypeSplit(expected, "\n");
  const fresh = StringPrototypeSplit(actual, "\n");
  if (old.length > MAX_LINES || fresh.length > MAX_LINES) {
    return `- ${brief(expected)}\n+ ${brief(actual)}`;
  }
  return ArrayPrototypeJoin(shorten(align(old, fresh)), "\n");
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
