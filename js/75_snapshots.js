// `toMatchSnapshot`: texts that a test agreed on before.

import { primordials } from "ext:core/mod.js";
import { tell } from "ext:pml/41_harness.js";
import { connect } from "ext:pml/72_expect.js";

const { Error, ObjectHasOwn, PromisePrototypeThen, String } = primordials;

let kept = { __proto__: null };
// "nothing", "new" or "all" may be written.
let update = "nothing";
// The test that runs now.
let running;
// How many each name has asked for: tests of the same name go on counting.
let counts = { __proto__: null };

function keepSnapshots(texts, mayWrite) {
  kept = texts;
  update = mayWrite;
}

// `undefined` between tests.
function snapshotsOf(test) {
  running = test;
}

function nextName(hint) {
  if (hint !== undefined) return `${running}: ${String(hint)}`;
  counts[running] = (counts[running] ?? 0) + 1;
  return `${running} ${counts[running]}`;
}

function matchSnapshot(actual, hint) {
  if (running === undefined) throw new Error("toMatchSnapshot belongs inside a test");
  const name = nextName(hint);
  const known = ObjectHasOwn(kept, name);
  const expected = known ? kept[name] : undefined;
  const write = update === "all" || (update === "new" && !known);
  const pass = (known && expected === actual) || write;
  // Not awaited: the message leaves at once, and the harness answers in order.
  PromisePrototypeThen(
    tell({
      __proto__: null,
      snapshot: { __proto__: null, name, text: write ? actual : undefined },
    }),
    undefined,
    () => {},
  );
  return { __proto__: null, pass, name, missing: !known, expected, actual };
}

connect({ __proto__: null, matchSnapshot });

export { keepSnapshots, snapshotsOf };
