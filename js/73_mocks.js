// `mockTool`: tools that are functions of the test.

import { primordials } from "ext:core/mod.js";
import { list, toJson } from "ext:pml/30_serialize.js";
import { isToolError, mockCalls, ToolError } from "ext:pml/40_tools.js";
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

// The newest stands for a tool; those of a test are gone when it ends.
const mocks = list();
let inTest = false;

let callsIn;

class ToolMock {
  #tool;
  #answer;
  // Answers for one call each, before the lasting one.
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

  // The arguments of every call, in order.
  get calls() {
    return this.#calls;
  }

  // Answers differently from now on.
  answer(answer) {
    this.#answer = answer;
    return this;
  }

  // Answers the next call that has no such answer yet.
  once(answer) {
    ArrayPrototypePush(this.#once, answer);
    return this;
  }

  // Forgets the calls.
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
      throw failure(tool, thrown);
    }
    // A tool's answer is JSON; what a mock gives is made so.
    const json = await toJson(value, `the answer of the mock of ${tool}`);
    return json === undefined ? null : JSONParse(json);
  }
}

// What a mock throws is what the tool fails with; a failed claim is the test's own.
function failure(tool, thrown) {
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

function find(tool, args) {
  for (let i = mocks.length - 1; i >= 0; i--) {
    if (mocks[i].mock.fits(tool)) return mocks[i].mock.call(tool, args);
  }
  return undefined;
}

// Mocks of the file count the calls of each test anew.
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
  mockCalls(find);
}

connect({ __proto__: null, callsOf: callsIn });
ObjectFreeze(ToolMock.prototype);

export { beginTest, endTest, mockTool, startMocking };
