// What a script can do: find tools, read about them, call them.

import { primordials } from "ext:core/mod.js";
import {
  op_call_tool,
  op_describe_tool,
  op_get_prompt,
  op_list_prompts,
  op_list_resources,
  op_read_resource,
  op_search_tools,
} from "ext:core/ops";
import { isTooMuch, list, toJson } from "ext:pml/30_serialize.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  Error,
  ErrorCaptureStackTrace,
  JSONParse,
  MathMin,
  NumberIsInteger,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectHasOwn,
  ObjectKeys,
  Proxy,
  RangeError,
  StringPrototypeIncludes,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  StringPrototypeTrim,
  SymbolFor,
  TypeError,
} = primordials;

const MAX_QUERY = 500;
const MAX_LIMIT = 50;
const MAX_CONCURRENCY = 64;

const args = [];

let isToolError;

class ToolError extends Error {
  #brand = true;
  static {
    isToolError = (error) => #brand in error;
  }

  // A script may throw one of its own, with a message in place of a failure.
  constructor(tool, failure = undefined) {
    const told = isObject(failure) ? failure : { __proto__: null, message: failure ?? tool };
    super(told.message);
    ObjectDefineProperty(this, "name", {
      __proto__: null,
      value: "ToolError",
      writable: true,
      enumerable: false,
      configurable: true,
    });
    this.kind = told.kind ?? "tool";
    this.tool = tool;
    this.retryable = told.retryable ?? false;
    if (ObjectHasOwn(told, "retryAfterMs")) {
      this.retryAfterMs = told.retryAfterMs;
    }
  }

  // The message of an error is no property that JSON has; of this one it is what matters.
  toJSON() {
    return { name: this.name, message: this.message, ...this };
  }
}

// In a world of its own, time stands still while a request is under way.
let tracked = (request) => request;

function track(request) {
  return tracked(request);
}

function trackRequests(tracker) {
  tracked = tracker;
}

// In a test, a tool may be a function of the test; a promise of its answer then.
let mockedCall = (_tool, _args) => undefined;

function mockCalls(mock) {
  mockedCall = mock;
}

function unpack(text, tool) {
  const envelope = JSONParse(text);
  if (ObjectHasOwn(envelope, "failure")) throw new ToolError(tool, envelope.failure);
  return envelope.value;
}

async function searchTools(query, limit = 10, threshold = undefined) {
  if (typeof query !== "string") {
    throw new TypeError(`searchTools needs a query in words, not ${describe(query)}`);
  }
  const words = StringPrototypeTrim(query);
  if (words.length === 0) {
    throw new TypeError("searchTools needs a query; the one given is empty");
  }
  if (words.length > MAX_QUERY) {
    throw new RangeError(
      `searchTools takes a query of at most ${MAX_QUERY} characters, not ${words.length}`,
    );
  }
  if (!NumberIsInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    const given = typeof limit === "number" ? limit : describe(limit);
    throw new RangeError(
      `searchTools takes a limit that is a whole number from 1 to ${MAX_LIMIT}, not ${given}`,
    );
  }
  if (
    threshold !== undefined &&
    !(typeof threshold === "number" && threshold >= 0 && threshold <= 1)
  ) {
    throw new RangeError("searchTools takes a threshold from 0 to 1");
  }
  return unpack(await tracked(op_search_tools(words, limit, threshold ?? NaN)), "searchTools");
}

async function describeTool(tool) {
  checkId(tool, "describeTool");
  return unpack(await tracked(op_describe_tool(tool)), tool);
}

// The value itself, or a thrown ToolError.
async function invoke(tool, input, called) {
  // Where the call stands in the script: a promise that is awaited elsewhere, or nowhere, leads to
  // an error without a place.
  const site = new Error();
  ErrorCaptureStackTrace(site, called);
  const json = input === undefined || input === null ? "{}" : inputText(tool, input);
  // Nothing is awaited that need not be: the op starts in the tick of the call.
  const text = (typeof json === "string" ? json : await json) ?? "{}";
  const mocked = mockedCall(tool, text);
  if (mocked !== undefined) return await mocked;
  const answer = await tracked(op_call_tool(tool, text));
  try {
    return unpack(answer, tool);
  } catch (error) {
    throw placed(error, site);
  }
}

// What does not fit into a message is a mistake in the arguments.
function inputText(tool, input) {
  try {
    return toJson(input, `the input of ${tool}`);
  } catch (error) {
    if (!isObject(error) || !isTooMuch(error)) throw error;
    const { message } = error;
    throw new ToolError(tool, { kind: "arguments", message, retryable: false });
  }
}

const FRAMES = "\n    at ";

function placed(error, site) {
  const { stack } = error;
  const at = StringPrototypeIndexOf(site.stack, FRAMES);
  if (at >= 0 && !StringPrototypeIncludes(stack, FRAMES)) {
    error.stack = stack + StringPrototypeSlice(site.stack, at);
  }
  return error;
}

async function callTool(tool, input = undefined, options = undefined) {
  checkId(tool, "callTool");
  if (typeof input === "string" && !StringPrototypeIncludes(tool, ":")) {
    throw new TypeError(
      `callTool takes server and tool as one id: callTool("${tool}:${input}", args)`,
    );
  }
  if (isObject(options)) {
    throw new TypeError(
      "callTool takes an id and its arguments; a call has no options: race it against a timer",
    );
  }
  checkInput(input, tool);
  try {
    return { success: true, result: await invoke(tool, input, callTool) };
  } catch (error) {
    if (!isObject(error) || !isToolError(error)) throw error;
    return { success: false, error };
  }
}

async function callToolsBatch(calls, options = undefined) {
  if (!ArrayIsArray(calls)) {
    throw new TypeError(
      `callToolsBatch needs an array of { tool, args }, not ${describe(calls)}`,
    );
  }
  if (options !== undefined && options !== null) checkOptions(options);
  const concurrency = options?.concurrency ?? MAX_CONCURRENCY;
  if (!NumberIsInteger(concurrency) || concurrency < 1) {
    throw new RangeError("callToolsBatch takes a concurrency of 1 or more");
  }
  const stopOnError = options?.stopOnError === true;
  const results = list();
  const plan = list();
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i];
    checkCall(call, i);
    checkId(call?.tool, `callToolsBatch, call ${i}`);
    checkInput(call.args, call.tool);
    ArrayPrototypePush(plan, { __proto__: null, tool: call.tool, args: call.args });
    results[i] = undefined;
  }
  let next = 0;
  let stopped = false;
  // What a lane throws is no failure of a tool; the first is thrown when all lanes have ended.
  let thrown;
  const lane = async () => {
    try {
      while (next < plan.length && !stopped) {
        const i = next++;
        results[i] = await callTool(plan[i].tool, plan[i].args);
        if (stopOnError && !results[i].success) stopped = true;
      }
    } catch (error) {
      stopped = true;
      thrown ??= { __proto__: null, error };
    }
  };
  const lanes = list();
  for (let i = 0; i < MathMin(concurrency, plan.length); i++) {
    ArrayPrototypePush(lanes, lane());
  }
  for (let i = 0; i < lanes.length; i++) await lanes[i];
  if (thrown !== undefined) throw thrown.error;
  for (let i = 0; i < plan.length; i++) {
    results[i] ??= {
      success: false,
      error: new ToolError(plan[i].tool, {
        kind: "calls",
        message: `${plan[i].tool} was not called: an earlier call of the batch failed`,
        retryable: true,
      }),
    };
  }
  return ArrayPrototypeSlice(results);
}

function checkOptions(options) {
  if (!isObject(options)) {
    throw new TypeError(`callToolsBatch takes options in an object, not ${describe(options)}`);
  }
  const keys = ObjectKeys(options);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "concurrency" || keys[i] === "stopOnError") continue;
    throw new TypeError(
      `callToolsBatch has no option \`${keys[i]}\`; it has \`concurrency\` and \`stopOnError\``,
    );
  }
}

// What is not known here would not reach the tool.
function checkCall(call, place) {
  if (!isObject(call)) return;
  const keys = ObjectKeys(call);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "tool" || keys[i] === "args") continue;
    const known = keys[i] === "arguments"
      ? "the arguments are called `args`"
      : "a call has `tool` and `args`";
    throw new TypeError(`callToolsBatch, call ${place} has an unknown \`${keys[i]}\`; ${known}`);
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

function checkId(tool, where) {
  if (typeof tool !== "string" || tool.length === 0) {
    throw new TypeError(
      `${where} needs a tool id such as "server:tool", not ${describe(tool)}`,
    );
  }
}

function checkInput(input, tool) {
  if (input === undefined || input === null) return;
  if (typeof input !== "object" || ArrayIsArray(input)) {
    throw new TypeError(`${tool} takes an object of named arguments, not ${describe(input)}`);
  }
}

function describe(value) {
  if (value === null) return "null";
  if (ArrayIsArray(value)) return "an array";
  if (value === "") return "an empty string";
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

// What a server has besides tools. Each throws a ToolError if the server cannot give it.

async function listResources(server) {
  checkText(server, "listResources", "the name of a server");
  return unpack(await tracked(op_list_resources(server)), server);
}

async function readResource(server, uri) {
  checkText(server, "readResource", "the name of a server");
  checkText(uri, "readResource", "the URI of a resource");
  return unpack(await tracked(op_read_resource(server, uri)), server);
}

async function listPrompts(server) {
  checkText(server, "listPrompts", "the name of a server");
  return unpack(await tracked(op_list_prompts(server)), server);
}

async function getPrompt(server, name, input = undefined) {
  checkText(server, "getPrompt", "the name of a server");
  checkText(name, "getPrompt", "the name of a prompt");
  checkInput(input, name);
  const json = input === undefined || input === null
    ? "{}"
    : toJson(input, `the input of ${name}`);
  const text = typeof json === "string" ? json : await json;
  return unpack(await tracked(op_get_prompt(server, name, text ?? "{}")), server);
}

function checkText(value, where, what) {
  if (typeof value !== "string" || value.length === 0) {
    throw new TypeError(`${where} needs ${what}, not ${describe(value)}`);
  }
}

// Names that the language itself asks of any object; answering them would make `tools.server`
// look like a promise or like something with a JSON form of its own.
const NOT_TOOLS = { __proto__: null, then: true, toJSON: true };

const servers = { __proto__: null };

// Which tools there are is not known here. The console says so instead of showing none; what it
// asks for is inherited, as a proxy could not hide a property of its own.
function unlisted(name) {
  const text = `${name} { not listed here: searchTools("what it should do") finds them }`;
  const shown = ObjectFreeze({
    __proto__: null,
    [SymbolFor("Deno.customInspect")]: () => text,
  });
  return ObjectFreeze({ __proto__: shown });
}

const tools = new Proxy(unlisted("tools"), {
  __proto__: null,
  get(_target, server) {
    if (typeof server !== "string" || server in NOT_TOOLS) return undefined;
    // `tools[hit.id]`: the name of a server has no colon.
    const colon = StringPrototypeIndexOf(server, ":");
    if (colon > 0) return toolsOf(StringPrototypeSlice(server, 0, colon))[
      StringPrototypeSlice(server, colon + 1)
    ];
    return toolsOf(server);
  },
});

function toolsOf(server) {
  return servers[server] ??= serverTools(server);
}

function serverTools(server) {
  const known = { __proto__: null };
  return new Proxy(unlisted(`tools.${server}`), {
    __proto__: null,
    get(_target, tool) {
      if (typeof tool !== "string" || tool in NOT_TOOLS) return undefined;
      const id = `${server}:${tool}`;
      return known[tool] ??= async function call(input = undefined) {
        checkInput(input, id);
        return await invoke(id, input, call);
      };
    },
  });
}

export {
  args,
  callTool,
  callToolsBatch,
  checkText,
  describeTool,
  getPrompt,
  isToolError,
  listPrompts,
  listResources,
  mockCalls,
  readResource,
  searchTools,
  ToolError,
  tools,
  track,
  trackRequests,
  unpack,
};
