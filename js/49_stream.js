// `streamTool`: a call whose progress and result arrive in parts. The broker keeps what the script has
// not asked for, so the script holds one answer of parts at a time.

import { primordials } from "ext:core/mod.js";
import { op_stream_close, op_stream_next, op_stream_open } from "ext:core/ops";
import { checkId, checkInput, isObject, mockedCall, track, typeName, unpack } from "ext:pml/39_requests.js";
import { serializeInput } from "ext:pml/39_tool_calls.js";

const { ArrayIsArray, ObjectKeys, TypeError } = primordials;

function streamTool(tool, input = undefined, options = undefined) {
  checkId(tool, "streamTool");
  checkInput(input, tool);
  return calls(tool, input ?? {}, readNext(options));
}

// `next` gives the arguments of the call behind the one that has ended, and so reads a large thing in
// ranges or pages.
function readNext(options) {
  if (options === undefined || options === null) return undefined;
  if (!isObject(options)) {
    throw new TypeError(`streamTool takes options in an object, not ${typeName(options)}`);
  }
  const keys = ObjectKeys(options);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "next") continue;
    throw new TypeError(`streamTool has no option \`${keys[i]}\`; it has \`next\``);
  }
  const { next } = options;
  if (next !== undefined && typeof next !== "function") {
    throw new TypeError(`streamTool takes a function as \`next\`, not ${typeName(next)}`);
  }
  return next;
}

async function* calls(tool, input, next) {
  let args = input;
  while (args !== undefined && args !== null) {
    checkInput(args, tool);
    // What `next` decides by.
    const ended = { args, length: 0, value: undefined };
    const text = (await serializeInput(tool, args)) ?? "{}";
    const mocked = mockedCall(tool, text);
    if (mocked !== undefined) {
      const value = await mocked;
      const parts = partsOf(value);
      for (let i = 0; i < parts.length; i++) {
        note(ended, parts[i]);
        yield parts[i];
      }
    } else {
      const stream = unpack(await track(op_stream_open(tool, text)), tool);
      let done = false;
      try {
        while (!done) {
          const answer = unpack(await track(op_stream_next(stream)), tool);
          done = answer.done;
          const { parts } = answer;
          for (let i = 0; i < parts.length; i++) {
            note(ended, parts[i]);
            yield parts[i];
          }
        }
      } finally {
        // The loop was left: the call is cancelled.
        if (!done) await track(op_stream_close(stream));
      }
    }
    args = next === undefined ? undefined : await next(ended);
  }
}

function note(ended, part) {
  if (part.type === "text") ended.length += part.text.length;
  else if (part.type === "item") ended.length++;
  else if (part.type === "value") ended.value = part.value;
}

// The parts of the result of a mock, as the broker makes them.
function partsOf(value) {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  if (!ArrayIsArray(value)) return [{ type: "value", value: value ?? null }];
  const parts = [];
  for (let i = 0; i < value.length; i++) parts[i] = { type: "item", value: value[i] };
  return parts;
}

// The script's (50_module.js). Parsed by tests: one name per line.
export {
  streamTool,
};
