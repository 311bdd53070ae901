// What is said to the broker besides requests of the script: where the clock of its own world
// stands, and in a test how it goes.

import { primordials } from "ext:core/mod.js";
import { op_harness } from "ext:core/ops";
import { ToolError } from "ext:pml/40_tools.js";

const { JSONParse, JSONStringify, ObjectHasOwn } = primordials;

// What the broker answers; a refusal is thrown.
async function tell(message) {
  const answer = JSONParse(await op_harness(JSONStringify(message)));
  if (ObjectHasOwn(answer, "failure")) throw new ToolError("pml/test", answer.failure);
  return answer.value;
}

export { tell };
