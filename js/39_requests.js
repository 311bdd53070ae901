// What every function of the script API is made of: sending a request, unpacking its answer, and the
// error that a failure becomes.

import { primordials } from "ext:core/mod.js";

const {
  ArrayIsArray,
  Error,
  JSONParse,
  ObjectDefineProperty,
  ObjectHasOwn,
  TypeError,
} = primordials;

let isToolError;
let hintOf;

class ToolError extends Error {
  // The code of a hint (`protocol/src/hint.rs`) that comes into effect if the error ends the run.
  #hint = undefined;
  static {
    isToolError = (error) => #hint in error;
    hintOf = (error) => error.#hint;
  }

  // `failure` has the fields of the error. A script may construct one with only a message instead.
  constructor(tool, failure = undefined) {
    const fields = isObject(failure) ? failure : { __proto__: null, message: failure ?? tool };
    super(fields.message);
    this.#hint = fields.hint;
    ObjectDefineProperty(this, "name", {
      __proto__: null,
      value: "ToolError",
      writable: true,
      enumerable: false,
      configurable: true,
    });
    this.kind = fields.kind ?? "tool";
    this.tool = tool;
    this.retryable = fields.retryable ?? false;
    if (ObjectHasOwn(fields, "retryAfterMs")) {
      this.retryAfterMs = fields.retryAfterMs;
    }
  }

  // `message` is not enumerable on errors, so JSON would leave it out.
  toJSON() {
    return { name: this.name, message: this.message, ...this };
  }
}

// Set by the virtual clock, which stands still while a request is in flight.
let tracker = (request) => request;

function track(request) {
  return tracker(request);
}

function trackRequests(newTracker) {
  tracker = newTracker;
}

// Set by the test runner: returns a promise of the result for a tool that a test mocks.
let callMock = (_tool, _args) => undefined;

function mockCalls(mock) {
  callMock = mock;
}

// The mocked result of a call, or undefined if the tool is not mocked.
function mockedCall(tool, args) {
  return callMock(tool, args);
}

function unpack(text, tool) {
  const envelope = JSONParse(text);
  if (ObjectHasOwn(envelope, "failure")) throw new ToolError(tool, envelope.failure);
  return envelope.value;
}

function checkText(value, where, what) {
  if (typeof value !== "string" || value.length === 0) {
    throw new TypeError(`${where} needs ${what}, not ${typeName(value)}`);
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

function isObject(value) {
  return typeof value === "object" && value !== null;
}

function typeName(value) {
  if (value === null) return "null";
  if (ArrayIsArray(value)) return "an array";
  if (value === "") return "an empty string";
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

export {
  checkId,
  checkInput,
  checkText,
  hintOf,
  isObject,
  isToolError,
  mockCalls,
  mockedCall,
  ToolError,
  track,
  trackRequests,
  typeName,
  unpack,
};
