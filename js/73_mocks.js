// `mockTool`: tools that a test implements.

import { primordials } from "ext:core/mod.js";
import { list, toJson } from "ext:pml/30_serialize.js";
import { isToolError, mockCalls, ToolError } from "ext:pml/39_requests.js";
import { connect, isAssertionError } from "ext:pml/72_expect.js";

const {
  ArrayPrototypePush,
  ArrayPrototypeShift,
  ArrayPrototypeSplice,
  JSONParse,
  ObjectFreeze,
  ReflectApply,
  String,
  StringPrototypeEndsWith,
  StringPrototypeIncludes,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  TypeError,
} = primordials;

// The newest mock of a tool wins; mocks that a test made are removed when it ends.
const mocks = list();
let inTest = false;

let callsIn;

class ToolMock {
  #tool;
  #answer;
  // Results for one call each, used before `#answer`.
  #once = list();
  #calls = [];
  static {
    callsIn = (value) => {
      if (typeof value !== "object" || value === null || !(#calls in value)) return undefined;
      const all = value.#calls;
      return { __proto__: null, all, length: all.length, name: value.#tool };
    };
  }

  constructor(tool, answer) {
    this.#tool = tool;
    this.#answer = answer;
  }

  get tool() {
    return this.#tool;
  }

  // The arguments of each call, in order.
  get calls() {
    return this.#calls;
  }

  // Sets the result of all further calls.
  answer(answer) {
    this.#answer = answer;
    return this;
  }

  // Queues a result for one call.
  once(answer) {
    ArrayPrototypePush(this.#once, answer);
    return this;
  }

  // Clears the recorded calls.
  reset() {
    this.#calls.length = 0;
    return this;
  }

  fits(tool) {
    if (this.#tool === tool) return true;
    return StringPrototypeEndsWith(this.#tool, ":*") &&
      StringPrototypeStartsWith(tool, StringPrototypeSlice(this.#tool, 0, -1));
  }

  async call(tool, args) {
    ArrayPrototypePush(this.#calls, JSONParse(args));
    const answer = this.#once.length > 0 ? ArrayPrototypeShift(this.#once) : this.#answer;
    let value;
    try {
      value = typeof answer === "function"
        ? await ReflectApply(answer, undefined, [JSONParse(args), tool])
        : answer;
    } catch (thrown) {
      throw toToolError(tool, thrown);
    }
    // The result of a real tool is JSON, so that of a mock is converted to JSON.
    const json = await toJson(value, `the result of the mock of ${tool}`);
    return json === undefined ? null : JSONParse(json);
  }
}

// An error that a mock throws becomes the tool's failure; a failed assertion stays the test's.
function toToolError(tool, thrown) {
  if (isAssertionError(thrown)) return thrown;
  if (typeof thrown === "object" && thrown !== null && isToolError(thrown)) return thrown;
  const message = typeof thrown?.message === "string" ? thrown.message : String(thrown);
  return new ToolError(tool, { kind: "tool", message, retryable: false });
}

function mockTool(tool, answer = undefined) {
  if (typeof tool !== "string" || !StringPrototypeIncludes(tool, ":")) {
    throw new TypeError('mockTool needs a tool id such as "server:tool", or "server:*"');
  }
  const mock = new ToolMock(tool, answer);
  ArrayPrototypePush(mocks, { __proto__: null, mock, inTest });
  return mock;
}

function callMock(tool, args) {
  for (let i = mocks.length - 1; i >= 0; i--) {
    if (mocks[i].mock.fits(tool)) return mocks[i].mock.call(tool, args);
  }
  return undefined;
}

// The call records of mocks that the file made start empty in each test.
function beginTest() {
  inTest = true;
  for (let i = 0; i < mocks.length; i++) mocks[i].mock.reset();
}

function endTest() {
  inTest = false;
  for (let i = mocks.length - 1; i >= 0; i--) {
    if (mocks[i].inTest) ArrayPrototypeSplice(mocks, i, 1);
  }
}

function startMocking() {
  mockCalls(callMock);
}

connect({ __proto__: null, callsOf: callsIn });
ObjectFreeze(ToolMock.prototype);

export { beginTest, endTest, mockTool, startMocking };
