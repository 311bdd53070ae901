// Messages of the runtime to the broker, apart from the script's requests: the time of the virtual
// clock, and in a test file the progress of its tests.

import { primordials } from "ext:core/mod.js";
import { op_harness } from "ext:core/ops";
import { ToolError } from "ext:pml/39_requests.js";

const { JSONParse, JSONStringify, ObjectHasOwn } = primordials;

// Returns the broker's reply; a failure is thrown.
async function sendToHarness(message) {
  const reply = JSONParse(await op_harness(JSONStringify(message)));
  if (ObjectHasOwn(reply, "failure")) throw new ToolError("pml/test", reply.failure);
  return reply.value;
}

export { sendToHarness };
