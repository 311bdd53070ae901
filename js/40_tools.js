// The script API for MCP servers: find, describe and call tools; read resources and prompts.

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
import { isTooLarge, list, toJson } from "ext:pml/30_serialize.js";
import {
  checkText,
  isObject,
  isToolError,
  mockedCall,
  ToolError,
  track,
  typeName,
  unpack,
} from "ext:pml/39_requests.js";
import { toolPromise } from "ext:pml/38_tool_promise.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  Error,
  ErrorCaptureStackTrace,
  MathMin,
  NumberIsInteger,
  ObjectFreeze,
  ObjectKeys,
  ObjectSetPrototypeOf,
  Proxy,
  RangeError,
  ReflectDeleteProperty,
  ReflectGet,
  ReflectHas,
  StringPrototypeIncludes,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  StringPrototypeTrim,
  SymbolFor,
  TypeError,
} = primordials;

const MAX_QUERY_CHARS = 500;
const MAX_LIMIT = 50;
const MAX_CONCURRENCY = 64;

const args = [];

// Each of these returns the promise of its answer, which cannot be mistaken for the answer.

function searchTools(query, limit = 10, threshold = undefined) {
  return toolPromise(searchToolsAnswer(query, limit, threshold));
}

function describeTool(tool) {
  return toolPromise(describeToolAnswer(tool));
}

function callTool(tool, input = undefined, options = undefined) {
  return toolPromise(callToolAnswer(tool, input, options));
}

function callToolsBatch(calls, options = undefined) {
  return toolPromise(callToolsBatchAnswer(calls, options));
}

async function searchToolsAnswer(query, limit = 10, threshold = undefined) {
  if (typeof query !== "string") {
    throw new TypeError(`searchTools needs a query in words, as in searchTools("read a file", 5), not ${typeName(query)}`);
  }
  const trimmed = StringPrototypeTrim(query);
  if (trimmed.length === 0) {
    throw new TypeError("searchTools needs a query; the one given is empty");
  }
  if (trimmed.length > MAX_QUERY_CHARS) {
    throw new RangeError(
      `searchTools takes a query of at most ${MAX_QUERY_CHARS} characters, not ${trimmed.length}`,
    );
  }
  if (!NumberIsInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    const given = typeof limit === "number" ? limit : typeName(limit);
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
  return unpack(await track(op_search_tools(trimmed, limit, threshold ?? NaN)), "searchTools");
}

async function describeToolAnswer(tool) {
  checkId(tool, "describeTool");
  return unpack(await track(op_describe_tool(tool)), tool);
}

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

async function callToolAnswer(tool, input = undefined, options = undefined) {
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
    return { success: true, result: await invoke(tool, input, callTool) };
  } catch (error) {
    if (!isObject(error) || !isToolError(error)) throw error;
    return { success: false, error };
  }
}

async function callToolsBatchAnswer(calls, options = undefined) {
  if (!ArrayIsArray(calls)) {
    throw new TypeError(
      `callToolsBatch needs an array of { tool, args }, not ${typeName(calls)}`,
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
  // An exception in a lane is not a tool failure; the first is rethrown when all lanes have ended.
  let thrown;
  const lane = async () => {
    try {
      while (next < plan.length && !stopped) {
        const i = next++;
        results[i] = await callToolAnswer(plan[i].tool, plan[i].args);
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
    throw new TypeError(`callToolsBatch takes options in an object, not ${typeName(options)}`);
  }
  const keys = ObjectKeys(options);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "concurrency" || keys[i] === "stopOnError") continue;
    throw new TypeError(
      `callToolsBatch has no option \`${keys[i]}\`; it has \`concurrency\` and \`stopOnError\``,
    );
  }
}

// An unknown key would be ignored silently and never reach the tool.
function checkCall(call, index) {
  if (!isObject(call)) return;
  const keys = ObjectKeys(call);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] === "tool" || keys[i] === "args") continue;
    const hint = keys[i] === "arguments"
      ? "the arguments are called `args`"
      : "a call has `tool` and `args`";
    throw new TypeError(`callToolsBatch, call ${index} has an unknown key \`${keys[i]}\`; ${hint}`);
  }
}

function checkId(tool, where) {
  if (typeof tool !== "string" || tool.length === 0) {
    throw new TypeError(
      `${where} needs a tool id such as "server:tool", not ${typeName(tool)}`,
    );
  }
}

function checkInput(input, tool) {
  if (input === undefined || input === null) return;
  if (typeof input !== "object" || ArrayIsArray(input)) {
    throw new TypeError(
      `${tool} takes an object of named arguments, such as { path: "a.txt" }, not ${typeName(input)}`,
    );
  }
}

// Resources and prompts of a server. Each function throws a ToolError if the server fails.

async function listResources(server) {
  checkText(server, "listResources", "the name of a server");
  return unpack(await track(op_list_resources(server)), server);
}

async function readResource(server, uri) {
  checkText(server, "readResource", "the name of a server");
  checkText(uri, "readResource", "the URI of a resource");
  return unpack(await track(op_read_resource(server, uri)), server);
}

async function listPrompts(server) {
  checkText(server, "listPrompts", "the name of a server");
  return unpack(await track(op_list_prompts(server)), server);
}

async function getPrompt(server, name, input = undefined) {
  checkText(server, "getPrompt", "the name of a server");
  checkText(name, "getPrompt", "the name of a prompt");
  checkInput(input, name);
  const json = input === undefined || input === null
    ? "{}"
    : toJson(input, `the input of ${name}`);
  const text = typeof json === "string" ? json : await json;
  return unpack(await track(op_get_prompt(server, name, text ?? "{}")), server);
}

// Properties that the language itself reads from any object. A function here would make
// `tools.server` a thenable, or give it a custom JSON form.
const NOT_TOOLS = { __proto__: null, then: true, toJSON: true };

const servers = { __proto__: null };

// The target of a `tools` proxy. The worker does not know which tools exist, so the console prints
// a hint instead of an empty object. The inspect method is inherited: a proxy cannot hide an own,
// non-configurable property of its target.
function proxyTarget(name, target = {}) {
  const text = `${name} { not listed here: searchTools("what it should do") finds them }`;
  const inspectable = ObjectFreeze({
    __proto__: null,
    [SymbolFor("Deno.customInspect")]: () => text,
  });
  // A function has these, and a proxy must show what its frozen target has.
  ReflectDeleteProperty(target, "name");
  ReflectDeleteProperty(target, "length");
  return ObjectFreeze(ObjectSetPrototypeOf(target, inspectable));
}

const tools = new Proxy(proxyTarget("tools"), {
  __proto__: null,
  get(_target, server) {
    if (typeof server !== "string" || server in NOT_TOOLS) return undefined;
    // `tools[hit.id]`: a server name has no colon.
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

// The tools of a server. It is a function for those who call it: without a server before the tool, or
// with a function of the API behind `tools`.
function serverTools(server) {
  const functions = { __proto__: null };
  return new Proxy(proxyTarget(`tools.${server}`, (input) => callWithoutServer(server, input)), {
    __proto__: null,
    get(_target, tool) {
      if (typeof tool !== "string" || tool in NOT_TOOLS) return undefined;
      return functions[tool] ??= toolFunction(server, tool);
    },
  });
}

// `tools.stripe.customers` is the tool `customers`, and `tools.stripe.customers.list` the tool
// `customers.list`: each step is a function with steps behind it.
function toolFunction(server, tool) {
  const id = `${server}:${tool}`;
  const steps = { __proto__: null };
  const call = function (input = undefined) {
    return toolPromise(answerOf(id, input, call));
  };
  return new Proxy(call, {
    __proto__: null,
    get(target, key, receiver) {
      if (typeof key !== "string" || key in NOT_TOOLS || ReflectHas(target, key)) {
        return ReflectGet(target, key, receiver);
      }
      return steps[key] ??= toolFunction(server, `${tool}.${key}`);
    },
  });
}

async function answerOf(id, input, caller) {
  checkInput(input, id);
  return await invoke(id, input, caller);
}

const CALLS = { __proto__: null, call: true, callTool: true, invoke: true, execute: true, run: true };
const SEARCHES = { __proto__: null, list: true, listTools: true, search: true, searchTools: true };

// `tools.read_file(…)`: the message of the gateway names the ids that are near.
async function callWithoutServer(name, input) {
  if (name in CALLS) {
    throw new TypeError(
      `tools.${name} is not a tool: write callTool("server:tool", args) or tools.server.tool(args)`,
    );
  }
  if (name in SEARCHES) {
    throw new TypeError(
      `tools.${name} is not a tool: searchTools("what it should do") finds tools`,
    );
  }
  return await answerOf(name, input, callWithoutServer);
}

// All of these are the script's (50_module.js). Parsed by tests: one name per line.
export {
  args,
  callTool,
  callToolsBatch,
  describeTool,
  getPrompt,
  listPrompts,
  listResources,
  readResource,
  searchTools,
  tools,
};
