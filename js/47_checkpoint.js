// `checkpoint`: progress of a long computation, which a resumed run does not repeat.

import { primordials } from "ext:core/mod.js";
import { op_checkpoint, op_random_continue } from "ext:core/ops";
import { toJson } from "ext:pml/30_serialize.js";
import { seedFromNumber } from "ext:pml/35_random.js";
import { checkText, track, unpack } from "ext:pml/39_requests.js";
import { continueAt, virtualTime } from "ext:pml/42_timers.js";

const { SafeArrayIterator } = primordials;

// With a value: keeps it. Without: returns what is kept, or undefined.
async function checkpoint(...given) {
  const [key, value] = new SafeArrayIterator(given);
  checkText(key, "checkpoint", "a key");
  if (given.length < 2) return find(key);
  const json = toJson(value, `the checkpoint ${key}`);
  const text = typeof json === "string" ? json : await json;
  const clock = unpack(await track(op_checkpoint(key, text ?? "null", virtualTime())), "checkpoint");
  // Randomness goes on as it does in a run that finds the checkpoint.
  if (clock !== null) continueRandomness(clock.seed);
}

function continueRandomness(seed) {
  seedFromNumber(seed);
  op_random_continue(seed);
}

async function find(key) {
  const found = unpack(await track(op_checkpoint(key, null, -1)), "checkpoint");
  if (found.length === 0) return undefined;
  const { value, clock } = found[0];
  if (clock !== undefined) {
    continueAt(clock.ms);
    continueRandomness(clock.seed);
  }
  return value;
}

// The script's (50_module.js). Parsed by tests: one name per line.
export {
  checkpoint,
};
