// One call of a tool, as the functions of the script API make it.

import { primordials } from "ext:core/mod.js";
import { op_call_tool } from "ext:core/ops";
import { isTooLarge, toJson } from "ext:pml/30_serialize.js";
import {
  checkId,
  checkInput,
  isObject,
  isToolError,
  mockedCall,
  ToolError,
  track,
  unpack,
} from "ext:pml/39_requests.js";

const {
  Error,
  ErrorCaptureStackTrace,
  StringPrototypeIncludes,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  TypeError,
} = primordials;

// Returns the tool's result, or throws a ToolError. `caller` is the API function that the script
// called; stack frames down to it are left out.
async function invoke(tool, input, caller) {
  // The stack at the call. The error's own stack has no frames of the script if the promise is
  // awaited elsewhere or not at all.
  const site = new Error();
  ErrorCaptureStackTrace(site, caller);
  const json = input === undefined || input === null ? "{}" : serializeInput(tool, input);
  // A string is not awaited, so that the op starts in the same tick as the call.
  const text = (typeof json === "string" ? json : await json) ?? "{}";
  const mocked = mockedCall(tool, text);
  if (mocked !== undefined) return await mocked;
  const answer = await track(op_call_tool(tool, text));
  try {
    return unpack(answer, tool);
  } catch (error) {
    throw withCallSite(error, site);
  }
}

// An input that is too large for a message fails with kind `arguments`.
function serializeInput(tool, input) {
  try {
    return toJson(input, `the input of ${tool}`);
  } catch (error) {
    if (!isObject(error) || !isTooLarge(error)) throw error;
    const { message } = error;
    throw new ToolError(tool, { kind: "arguments", message, retryable: false });
  }
}

const FRAME_PREFIX = "\n    at ";

function withCallSite(error, site) {
  const { stack } = error;
  const at = StringPrototypeIndexOf(site.stack, FRAME_PREFIX);
  if (at >= 0 && !StringPrototypeIncludes(stack, FRAME_PREFIX)) {
    error.stack = stack + StringPrototypeSlice(site.stack, at);
  }
  return error;
}

// What `callTool` returns; `caller` as above.
async function callToolAnswer(tool, input, options, caller) {
  if (isObject(tool)) {
    throw new TypeError(
      'callTool takes the id and the arguments apart: callTool("server:tool", args)',
    );
  }
  checkId(tool, "callTool");
  if (typeof input === "string" && !StringPrototypeIncludes(tool, ":")) {
    throw new TypeError(
      `callTool takes server and tool as one id: callTool("${tool}:${input}", args)`,
    );
  }
  if (isObject(options)) {
    throw new TypeError(
      "callTool takes a tool id and arguments, no options; for a timeout, race it against a timer",
    );
  }
  checkInput(input, tool);
  try {
    return { success: true, result: await invoke(tool, input, caller) };
  } catch (error) {
    if (!isObject(error) || !isToolError(error)) throw error;
    return { success: false, error };
  }
}

export { callToolAnswer, invoke, serializeInput };
