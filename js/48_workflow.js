// `runWorkflow`: runs a plan whose calls are those of the script.

import { primordials } from "ext:core/mod.js";
import { op_run_workflow } from "ext:core/ops";
import { toJson } from "ext:pml/30_serialize.js";
import { toolPromise } from "ext:pml/38_tool_promise.js";
import { checkInput, isObject, track, typeName, unpack } from "ext:pml/39_requests.js";

const { TypeError } = primordials;

function runWorkflow(plan, input = undefined) {
  return toolPromise(runWorkflowAnswer(plan, input));
}

async function runWorkflowAnswer(plan, input) {
  if (typeof plan !== "string" && !isObject(plan)) {
    throw new TypeError(
      `runWorkflow needs a plan, such as { tasks: [{ id: "a", tool: "server:tool" }] }, not ${typeName(plan)}`,
    );
  }
  checkInput(input, "runWorkflow");
  const planText = await toJson(plan, "the plan");
  const inputText = (await toJson(input ?? {}, "the input of the plan")) ?? "{}";
  return unpack(await track(op_run_workflow(planText, inputText)), "runWorkflow");
}

// The script's (50_module.js). Parsed by tests: one name per line.
export {
  runWorkflow,
};
