// The script API for MCP servers: find, describe and call tools; read resources and prompts.

import { primordials } from "ext:core/mod.js";
import {
  op_describe_tool,
  op_get_prompt,
  op_list_prompts,
  op_list_resources,
  op_read_resource,
  op_search_tools,
} from "ext:core/ops";
import { toJson } from "ext:pml/30_serialize.js";
import { callToolAnswer, invoke } from "ext:pml/39_tool_calls.js";
import { checkId, checkInput, checkText, track, typeName, unpack } from "ext:pml/39_requests.js";
import { toolPromise } from "ext:pml/38_tool_promise.js";

const {
  NumberIsInteger,
  ObjectFreeze,
  ObjectSetPrototypeOf,
  Proxy,
  RangeError,
  ReflectDeleteProperty,
  ReflectGet,
  ReflectHas,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  StringPrototypeTrim,
  SymbolFor,
  TypeError,
} = primordials;

const MAX_QUERY_CHARS = 500;
const MAX_LIMIT = 50;

const args = [];

// Each of these returns the promise of its answer, which cannot be mistaken for the answer.

function searchTools(query, limit = 10, threshold = undefined) {
  return toolPromise(searchToolsAnswer(query, limit, threshold));
}

function describeTool(tool) {
  return toolPromise(describeToolAnswer(tool));
}

function callTool(tool, input = undefined, options = undefined) {
  return toolPromise(callToolAnswer(tool, input, options, callTool));
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
  describeTool,
  getPrompt,
  listPrompts,
  listResources,
  readResource,
  searchTools,
  tools,
};
