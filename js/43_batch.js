// `callToolsBatch`: many calls, a few at a time, with results as they come.

import { primordials } from "ext:core/mod.js";
import { list } from "ext:pml/30_serialize.js";
import { toolPromise } from "ext:pml/38_tool_promise.js";
import { checkId, checkInput, isObject, ToolError, typeName } from "ext:pml/39_requests.js";
import { callToolAnswer } from "ext:pml/39_tool_calls.js";
import { callTool } from "ext:pml/40_tools.js";

const {
  ArrayIsArray,
  ArrayPrototypePush,
  ArrayPrototypeSlice,
  MathMin,
  NumberIsInteger,
  ObjectKeys,
  RangeError,
  SymbolAsyncIterator,
  SymbolIterator,
  TypeError,
} = primordials;

const MAX_CONCURRENCY = 64;

const OPTIONS = {
  __proto__: null,
  concurrency: true,
  stopOnError: true,
  chunk: true,
  onResult: true,
  onProgress: true,
};

function callToolsBatch(calls, options = undefined) {
  return toolPromise(callToolsBatchAnswer(calls, options));
}

async function callToolsBatchAnswer(calls, options = undefined) {
  const settings = readOptions(options);
  const source = ArrayIsArray(calls) ? listed(calls) : iterated(calls);
  const batch = {
    __proto__: null,
    results: list(),
    done: 0,
    failed: 0,
    stopped: false,
    // An exception in a lane is not a tool failure; the first is rethrown when all lanes have ended.
    thrown: undefined,
  };
  // Without chunks, the whole batch is one.
  do {
    const chunk = { __proto__: null, left: settings.chunk };
    const lanes = list();
    for (let i = 0; i < MathMin(settings.concurrency, source.known, settings.chunk); i++) {
      ArrayPrototypePush(lanes, lane(source, chunk, batch, settings));
    }
    for (let i = 0; i < lanes.length; i++) await lanes[i];
  } while (!batch.stopped && !source.ended);
  if (batch.thrown !== undefined) throw batch.thrown.error;
  return ArrayPrototypeSlice(skipped(source, batch));
}

// Makes calls one after the other, until the chunk is full, the source has ended or the batch stops. A
// callback that takes its time holds the lane back, and with all lanes the source.
async function lane(source, chunk, batch, settings) {
  try {
    while (chunk.left > 0 && !batch.stopped && !source.ended) {
      chunk.left--;
      // A call of a list starts in the same tick.
      const taken = source.pull === undefined ? source.take() : await source.pull();
      if (taken === undefined) return;
      const { index, tool, args } = taken;
      const result = await callToolAnswer(tool, args, undefined, callTool);
      batch.results[index] = result;
      batch.done++;
      if (!result.success) {
        batch.failed++;
        if (settings.stopOnError) batch.stopped = true;
      }
      const { onResult, onProgress } = settings;
      if (onResult !== undefined) await onResult(result, index, { tool, args });
      if (onProgress !== undefined) {
        const { done, failed } = batch;
        await onProgress({ done, failed, total: source.total });
      }
    }
  } catch (error) {
    batch.stopped = true;
    batch.thrown ??= { __proto__: null, error };
  }
}

// The calls of an array, checked before the first one is made.
function listed(calls) {
  const plan = list();
  for (let i = 0; i < calls.length; i++) ArrayPrototypePush(plan, checkedCall(calls[i], i));
  return {
    __proto__: null,
    known: plan.length,
    total: plan.length,
    plan,
    ended: plan.length === 0,
    next: 0,
    pull: undefined,
    take() {
      const taken = this.plan[this.next++];
      if (this.next >= this.plan.length) this.ended = true;
      return taken;
    },
  };
}

// The calls of an iterable, such as a generator: each is made when there is room for it.
function iterated(calls) {
  const start = isObject(calls) ? calls[SymbolAsyncIterator] ?? calls[SymbolIterator] : undefined;
  if (typeof start !== "function") {
    throw new TypeError(
      `callToolsBatch needs an array of { tool, args }, or an iterable of them, not ${typeName(calls)}`,
    );
  }
  const iterator = calls[SymbolAsyncIterator]?.() ?? calls[SymbolIterator]();
  const source = {
    __proto__: null,
    known: Infinity,
    total: undefined,
    plan: undefined,
    ended: false,
    next: 0,
    last: undefined,
    // One lane after the other: an iterator is not asked twice at once.
    pull() {
      const before = source.last;
      source.last = (async () => {
        try {
          await before;
        } catch {
          // The lane that asked has the error.
        }
        return source.ended ? undefined : await step();
      })();
      return source.last;
    },
  };
  const step = async () => {
    try {
      const { done, value } = await iterator.next();
      if (!done) return checkedCall(value, source.next++);
    } catch (error) {
      source.ended = true;
      throw error;
    }
    source.ended = true;
    return undefined;
  };
  return source;
}

// The results, with a failure for every call of a list that was not made.
function skipped(source, batch) {
  if (source.plan === undefined) return batch.results;
  for (let i = 0; i < source.plan.length; i++) {
    const { tool } = source.plan[i];
    batch.results[i] ??= {
      success: false,
      error: new ToolError(tool, {
        kind: "calls",
        message: `${tool} was not called: an earlier call of the batch failed`,
        retryable: true,
      }),
    };
  }
  return batch.results;
}

function readOptions(options) {
  if (options !== undefined && options !== null) checkOptions(options);
  const concurrency = options?.concurrency ?? MAX_CONCURRENCY;
  if (!NumberIsInteger(concurrency) || concurrency < 1) {
    throw new RangeError("callToolsBatch takes a concurrency of 1 or more");
  }
  const chunk = options?.chunk ?? Infinity;
  if (chunk !== Infinity && (!NumberIsInteger(chunk) || chunk < 1)) {
    throw new RangeError("callToolsBatch takes a chunk of 1 call or more");
  }
  return {
    __proto__: null,
    concurrency: MathMin(concurrency, MAX_CONCURRENCY),
    chunk,
    stopOnError: options?.stopOnError === true,
    onResult: callback(options, "onResult"),
    onProgress: callback(options, "onProgress"),
  };
}

function callback(options, name) {
  const given = options?.[name] ?? undefined;
  if (given !== undefined && typeof given !== "function") {
    throw new TypeError(`callToolsBatch takes a function as \`${name}\`, not ${typeName(given)}`);
  }
  return given;
}

function checkOptions(options) {
  if (!isObject(options)) {
    throw new TypeError(`callToolsBatch takes options in an object, not ${typeName(options)}`);
  }
  const keys = ObjectKeys(options);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] in OPTIONS) continue;
    throw new TypeError(
      `callToolsBatch has no option \`${keys[i]}\`; it has \`concurrency\`, \`stopOnError\`, \`chunk\`, \`onResult\` and \`onProgress\``,
    );
  }
}

function checkedCall(call, index) {
  checkCall(call, index);
  checkId(call?.tool, `callToolsBatch, call ${index}`);
  checkInput(call.args, call.tool);
  return { __proto__: null, index, tool: call.tool, args: call.args };
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

// The script's (50_module.js). Parsed by tests: one name per line.
export {
  callToolsBatch,
};
