// `toMatchSnapshot`: compares a text with the one that was accepted before.

import { primordials } from "ext:core/mod.js";
import { sendToHarness } from "ext:pml/41_harness.js";
import { connect } from "ext:pml/72_expect.js";

const { Error, ObjectHasOwn, PromisePrototypeThen, String } = primordials;

// Accepted texts by snapshot name.
let accepted = { __proto__: null };
// Which snapshots may be written: "nothing", "new" or "all".
let update = "nothing";
// Full name of the currentTest test.
let currentTest;
// Snapshots per test name; tests of the same name share a counter.
let counts = { __proto__: null };

function loadSnapshots(texts, updateMode) {
  accepted = texts;
  update = updateMode;
}

// `undefined` between tests.
function setSnapshotTest(test) {
  currentTest = test;
}

function nextName(hint) {
  if (hint !== undefined) return `${currentTest}: ${String(hint)}`;
  counts[currentTest] = (counts[currentTest] ?? 0) + 1;
  return `${currentTest} ${counts[currentTest]}`;
}

function matchSnapshot(actual, hint) {
  if (currentTest === undefined) throw new Error("toMatchSnapshot must be called inside a test");
  const name = nextName(hint);
  const known = ObjectHasOwn(accepted, name);
  const expected = known ? accepted[name] : undefined;
  const write = update === "all" || (update === "new" && !known);
  const pass = (known && expected === actual) || write;
  // Not awaited: the message is sent at once, and the harness handles messages in order.
  PromisePrototypeThen(
    sendToHarness({
      __proto__: null,
      snapshot: { __proto__: null, name, text: write ? actual : undefined },
    }),
    undefined,
    () => {},
  );
  return { __proto__: null, pass, name, missing: !known, expected, actual };
}

connect({ __proto__: null, matchSnapshot });

export { loadSnapshots, setSnapshotTest };
