// The globals of a script that `pml run` executes, besides those of the language itself.
//
// For an editor, put a tsconfig.json beside your scripts. It loads this file, sets the language to
// ESNext and leaves out the browser's types:
//
//   { "extends": "<path to pml>/typings/tsconfig.json", "include": ["*.ts"] }
//
// For a single script, its first line can load this file alone:
//
//   /// <reference path="<path to pml>/typings/pml.d.ts" />
//
// TypeScript's own library also declares `eval` and `SharedArrayBuffer`; a script has neither.

// ---------------------------------------------------------------------------------------------
// Tools
// ---------------------------------------------------------------------------------------------

/** A tool of an MCP server, as `searchTools` returns it. */
interface MCPTool {
  /** The id for `callTool`: `server:tool`. */
  id: string;
  /** The server's name in the configuration, as in `tools.server`. */
  server: string;
  /** The tool's name on its server. */
  name: string;
  /** The description that the server gives. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema?: Record<string, any>;
  /** How well the tool matches the query, from 0 to 1. */
  score: number;
}

/** A tool of an MCP server, as `describeTool` returns it. */
interface ToolDescription {
  /** The id for `callTool`: `server:tool`. */
  id: string;
  /** The server's name in the configuration. */
  server: string;
  /** The tool's name on its server. */
  name: string;
  /** The description that the server gives. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema?: Record<string, any>;
  /**
   * What a call does: `read` (nothing), `idempotent` (repeating it changes nothing more), `keyed` (the
   * same, with the same idempotency key, which pml adds), `guarded` (anything else, or not known).
   */
  effect?: "read" | "idempotent" | "keyed" | "guarded";
  /** Further fields that the server sends, such as `title`, `outputSchema` and `annotations`. */
  [detail: string]: unknown;
}

/**
 * A failed call: the `error` of `callTool`, and what `tools.server.tool()` throws.
 *
 * @example
 * try {
 *   await tools.fs.read_file({ path: "a.json" });
 * } catch (error) {
 *   if (!(error instanceof ToolError) || !error.retryable) throw error;
 * }
 */
interface ToolError extends Error {
  /** Always `"ToolError"`. */
  readonly name: "ToolError";
  /**
   * The kind of failure: `tool` (the tool reported an error), `unknown` (no such tool), `arguments`
   * (they do not match the schema), `version` (they were written for another version of the tool),
   * `denied` (by policy), `calls` (too many calls), `unavailable` (the server is down), `timeout`, `cancelled`, `output` (the result is too large), `protocol`
   * (the server violated MCP).
   */
  kind: string;
  /** The id of the tool that was called: `server:tool`. */
  tool: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  /** Milliseconds to wait before a retry, if the server said so. */
  retryAfterMs?: number;
}

/** The class of failed calls. A test constructs one to make a mock fail. */
declare var ToolError: {
  prototype: ToolError;
  new (
    tool: string,
    failure: { kind: string; message: string; retryable: boolean; retryAfterMs?: number },
  ): ToolError;
};

/** The return value of `callTool`. Check `success` first; TypeScript then narrows the type. */
type ToolResult<T = any> =
  | { success: true; result: T; error?: undefined }
  | { success: false; error: ToolError; result?: undefined };

/** One call of `callToolsBatch`. */
interface ToolCall {
  /** The id of the tool: `server:tool`. */
  tool: string;
  /** The arguments of the call, by name. */
  args?: object | null;
}

/** Options of `callToolsBatch`. */
interface BatchOptions<T = any> {
  /** Maximum number of concurrent calls; default 64, and never more than the run allows. */
  concurrency?: number;
  /** Start no further call of the batch after a failure; default false. */
  stopOnError?: boolean;
  /** Calls of one chunk: all of them end before the next chunk begins; default all calls. */
  chunk?: number;
  /** Receives each result as it comes. A promise that it returns holds back further calls. */
  onResult?: (result: ToolResult<T>, index: number, call: ToolCall) => unknown;
  /** Receives how far the batch is. `total` is undefined for an iterable. */
  onProgress?: (progress: { done: number; failed: number; total?: number }) => unknown;
}

/** A part of a stream, as `streamTool` yields it. */
type StreamPart<T = any> =
  /** The server reports progress. */
  | { type: "progress"; done: number; total?: number; message?: string }
  /** A part of a text of at most 64 KiB, which ends behind a line where it can. */
  | { type: "text"; text: string }
  /** An item of a list. */
  | { type: "item"; value: T }
  /** A result that is neither a text nor a list. */
  | { type: "value"; value: T }
  /** The texts that follow are of this resource, which the result contains or links to. */
  | { type: "resource"; uri: string; mimeType?: string };

/** Options of `streamTool`. */
interface StreamOptions {
  /**
   * Gives the arguments of the next call when one has ended, or undefined at the end: to read a large
   * thing in ranges or pages. `length` is the number of characters, or of items, of the call; `value` is
   * its result, if that is neither a text nor a list.
   */
  next?: (ended: { args: any; length: number; value: any }) => object | null | undefined | Promise<object | null | undefined>;
}

/** A task of a plan. See docs/workflows.md for all its keys. */
interface WorkflowTask {
  /** The name that references use. */
  id?: string;
  /** The tool to call: `server:tool`. */
  tool?: string;
  /** Its arguments, which may hold references such as `$OUTPUT[other].field`. */
  args?: object;
  /** Code to run in a sandbox of its own. */
  code?: string;
  /** Further keys, such as `depends_on`, `when`, `for_each`, `optional`, `retry`, `timeout`. */
  [more: string]: unknown;
}

/** A plan: a graph of tool calls and code. */
interface WorkflowPlan {
  /** The tasks. Those that do not refer to each other run in parallel. */
  tasks: WorkflowTask[] | Record<string, WorkflowTask>;
  /** Further keys, such as `output`, `on_error`, `deadline` and `pools`. */
  [more: string]: unknown;
}

/** How a plan ended, as `runWorkflow` returns it. */
interface WorkflowResult<T = any> {
  /** Whether every task that had to is done. */
  ok: boolean;
  /** `partial`: some tasks failed, others are done. */
  state: "done" | "partial" | "failed" | "stopped";
  /** The plan's `output`; without one, the output of the last task, or of the last tasks by id. */
  output: T;
  /** Every task by its id. */
  tasks: Record<
    string,
    {
      state: "done" | "failed" | "skipped" | "cancelled" | "unknown";
      attempts: number;
      items?: { done: number; all: number };
      error?: { kind: string; message: string };
    }
  >;
}

/**
 * Searches the tools of all servers by what they do. The best match comes first.
 *
 * @param query What the tool should do, in up to 500 characters: `"read a file and parse JSON"`.
 * @param limit Maximum number of results, an integer from 1 to 50; default 10.
 * @param threshold Minimum score of a result, from 0 to 1.
 *
 * @example
 * const [best] = await searchTools("send a chat message", 1);
 * if (best !== undefined) await callTool(best.id, { text: "hello" });
 */
declare function searchTools(query: string, limit?: number, threshold?: number): Promise<MCPTool[]>;

/**
 * Returns the full description of one tool, with the JSON Schema of its arguments.
 *
 * @param tool The id of the tool: `server:tool`.
 * @throws {ToolError} if there is no such tool.
 *
 * @example
 * const { inputSchema } = await describeTool("fs:read_file");
 */
declare function describeTool(tool: string): Promise<ToolDescription>;

/**
 * Calls a tool. A failed call does not throw: check `success`.
 *
 * @param tool The id of the tool: `server:tool`.
 * @param args The arguments of the call, by name.
 *
 * @example
 * const answer = await callTool<string>("fs:read_file", { path: "a.json" });
 * if (answer.success) console.log(answer.result.length);
 * else console.error(answer.error.message);
 */
declare function callTool<Id extends keyof KnownTools>(
  tool: Id,
  ...args: KnownTools[Id]["args"]
): Promise<ToolResult<KnownTools[Id]["result"]>>;
declare function callTool<T = any, Id extends string = string>(
  tool: Id,
  ...args: Id extends keyof KnownTools ? KnownTools[Id]["args"] : [args?: object | null]
): Promise<ToolResult<T>>;

/**
 * Calls many tools concurrently. The results are in the order of the calls; a failed call does not
 * throw. Of an iterable, such as a generator, a call is taken when there is room for it.
 *
 * @example
 * const results = await callToolsBatch(
 *   paths.map((path) => ({ tool: "fs:read_file", args: { path } })),
 *   { concurrency: 8, onProgress: ({ done, total }) => console.log(`${done} of ${total}`) },
 * );
 */
declare function callToolsBatch<T = any>(
  calls: readonly ToolCall[] | Iterable<ToolCall> | AsyncIterable<ToolCall>,
  options?: BatchOptions<T>,
): Promise<ToolResult<T>[]>;

/**
 * Calls a tool and yields what comes of it: its progress, and its result in parts. The next part is
 * fetched when the loop asks for it, so a large result is never in the script as a whole. Leaving the
 * loop cancels the call.
 *
 * @throws {ToolError} if the call fails.
 *
 * @example
 * let lines = 0;
 * const ranges = streamTool("logs:read", { offset: 0, length: 1_000_000 }, {
 *   next: ({ args, length }) => length > 0 ? { ...args, offset: args.offset + args.length } : undefined,
 * });
 * for await (const part of ranges) {
 *   if (part.type === "text") lines += part.text.split("\n").length - 1;
 * }
 */
declare function streamTool<T = any>(
  tool: string,
  args?: object | null,
  options?: StreamOptions,
): AsyncGenerator<StreamPart<T>, void, undefined>;

/**
 * Runs a plan, whose calls are calls of this script: the same limits, policy and approvals hold. A failed
 * task does not throw: check `ok`. The code of a plan runs no plans.
 *
 * @param plan The plan, or its text as JSON or YAML.
 * @param input What `$INPUT` refers to.
 * @throws {ToolError} with kind `arguments` if the plan has mistakes.
 *
 * @example
 * const { output } = await runWorkflow({
 *   tasks: [
 *     { id: "list", tool: "fs:list", args: { dir: "$INPUT.dir" } },
 *     { id: "read", tool: "fs:read", for_each: "$OUTPUT[list]", args: { path: "$ITEM" }, optional: true },
 *   ],
 * }, { dir: "logs" });
 */
declare function runWorkflow<T = any>(
  plan: WorkflowPlan | string,
  input?: object | null,
): Promise<WorkflowResult<T>>;

/** A resource of a server, as `listResources` returns it. */
interface MCPResource {
  /** The URI for `readResource`. */
  uri: string;
  /** The name of the resource on its server. */
  name: string;
  /** A name for people. */
  title?: string;
  /** The description that the server gives. */
  description?: string;
  /** The media type, such as `text/plain`. */
  mimeType?: string;
  /** Further fields that the server sends. */
  [more: string]: any;
}

/** One part of the contents of a resource: text, or bytes in base64. */
interface ResourceContents {
  /** The URI of this part. */
  uri: string;
  /** The media type, such as `text/plain`. */
  mimeType?: string;
  /** The content, if it is text. */
  text?: string;
  /** The content in base64, if it is binary. */
  blob?: string;
  /** Further fields that the server sends. */
  [more: string]: any;
}

/** A prompt template of a server, as `listPrompts` returns it. */
interface MCPPrompt {
  /** The name for `getPrompt`. */
  name: string;
  /** A name for people. */
  title?: string;
  /** The description that the server gives. */
  description?: string;
  /** The arguments of the template. */
  arguments?: { name: string; description?: string; required?: boolean }[];
  /** Further fields that the server sends. */
  [more: string]: any;
}

/** A prompt with its arguments filled in, as `getPrompt` returns it. */
interface PromptResult {
  /** The description that the server gives. */
  description?: string;
  /** The messages of the prompt, in order. */
  messages: { role: "user" | "assistant"; content: any }[];
  /** Further fields that the server sends. */
  [more: string]: any;
}

/**
 * Lists the resources of a server. The list is empty if the server does not support resources.
 *
 * @param server The server's name in the configuration.
 * @throws {ToolError} if there is no such server or it fails.
 *
 * @example
 * const resources = await listResources("docs");
 */
declare function listResources(server: string): Promise<MCPResource[]>;

/**
 * Reads a resource of a server. It may have several parts.
 *
 * @param server The server's name in the configuration.
 * @param uri The `uri` of the resource.
 * @throws {ToolError} if the server fails or has no such resource.
 *
 * @example
 * const [part] = await readResource("docs", "file:///guide.md");
 * console.log(part?.text);
 */
declare function readResource(server: string, uri: string): Promise<ResourceContents[]>;

/**
 * Lists the prompt templates of a server. The list is empty if the server does not support prompts.
 *
 * @param server The server's name in the configuration.
 * @throws {ToolError} if there is no such server or it fails.
 */
declare function listPrompts(server: string): Promise<MCPPrompt[]>;

/**
 * Fills in a prompt template of a server.
 *
 * @param server The server's name in the configuration.
 * @param name The name of the prompt.
 * @param args The arguments of the template, by name.
 * @throws {ToolError} if the server fails or has no such prompt.
 *
 * @example
 * const { messages } = await getPrompt("docs", "summarize", { topic: "limits" });
 */
declare function getPrompt(
  server: string,
  name: string,
  args?: object | null,
): Promise<PromptResult>;

/** The tools of one server as functions, if no types were generated for it. */
interface ServerTools {
  /** Calls the tool with arguments by name. @throws {ToolError} if the call fails. */
  readonly [tool: string]: <T = any>(args?: object | null) => Promise<T>;
}

/**
 * The servers by their names in the configuration. The output of `pml types` merges into this
 * interface. While it is empty, `tools` accepts any server and any tool.
 */
interface ToolServers {}

/** Arguments and results by tool id. The output of `pml types` merges into this interface. */
interface KnownTools {}

/**
 * Every tool as a function that returns the result and throws `ToolError` if the call fails. Any
 * name is accepted and none is listed: `Object.keys(tools)` is empty. Use `searchTools` to find
 * tools.
 *
 * @example
 * const text = await tools.fs.read_file<string>({ path: "a.json" });
 */
declare var tools: [keyof ToolServers] extends [never]
  ? { readonly [server: string]: ServerTools }
  : ToolServers;

/**
 * Stores a value for later scripts of the same session, as JSON: `undefined` becomes `null`. An
 * earlier value of the key is replaced.
 *
 * @throws {ToolError} if the session's storage is full.
 *
 * @example
 * await store("seen", ids);
 */
declare function store(key: string, value: unknown): Promise<void>;

/**
 * Returns the value that `store` stored under a key, or `undefined`. Also returns a result that was
 * too large for the reply, by the handle that the reply has in its place.
 *
 * @throws {ToolError} if a handle has expired.
 *
 * @example
 * const seen = (await load<string[]>("seen")) ?? [];
 */
declare function load<T = any>(key: string): Promise<T>;

/**
 * Keeps a value over a resume of a durable run, as JSON, so that a long computation is not repeated.
 * Without a value, returns what was kept under the key, or `undefined`. What the script did before it
 * made a checkpoint must not be needed after it: a resumed script skips it.
 *
 * @throws {ToolError} if the value is over 4 MiB.
 *
 * @example
 * for (let page = (await checkpoint<number>("page")) ?? 0; page < pages; page++) {
 *   work(page);
 *   await checkpoint("page", page + 1);
 * }
 */
declare function checkpoint<T = any>(key: string): Promise<T | undefined>;
declare function checkpoint(key: string, value: unknown): Promise<void>;

/** The arguments of the script: those after `--` on the command line. */
declare var args: string[];

/** The type of `import.meta`. */
interface ImportMeta {
  /** The script's name as a URL; it does not reveal where the script is on disk. */
  readonly url: string;
  /** The path of `url`. */
  readonly filename: string;
  /** The folder of `filename`. */
  readonly dirname: string;
  /** Always true: the script is the only module. */
  readonly main: boolean;
  /** The URL of a module that can be imported. Throws for any other specifier. */
  resolve(specifier: string): string;
}

/** The same names as the globals, for scripts that import what they use. */
declare module "pml" {
  export type BatchOptions<T = any> = globalThis.BatchOptions<T>;
  export type MCPPrompt = globalThis.MCPPrompt;
  export type MCPResource = globalThis.MCPResource;
  export type MCPTool = globalThis.MCPTool;
  export type PromptResult = globalThis.PromptResult;
  export type ResourceContents = globalThis.ResourceContents;
  export type ServerTools = globalThis.ServerTools;
  export type StreamOptions = globalThis.StreamOptions;
  export type StreamPart<T = any> = globalThis.StreamPart<T>;
  export type ToolCall = globalThis.ToolCall;
  export type ToolDescription = globalThis.ToolDescription;
  export type ToolError = globalThis.ToolError;
  export type ToolResult<T = any> = globalThis.ToolResult<T>;
  export type ToolServers = globalThis.ToolServers;
  export type WorkflowPlan = globalThis.WorkflowPlan;
  export type WorkflowResult<T = any> = globalThis.WorkflowResult<T>;
  export type WorkflowTask = globalThis.WorkflowTask;
  export const ToolError: typeof globalThis.ToolError;
  export const args: typeof globalThis.args;
  export const callTool: typeof globalThis.callTool;
  export const callToolsBatch: typeof globalThis.callToolsBatch;
  export const checkpoint: typeof globalThis.checkpoint;
  export const describeTool: typeof globalThis.describeTool;
  export const getPrompt: typeof globalThis.getPrompt;
  export const listPrompts: typeof globalThis.listPrompts;
  export const listResources: typeof globalThis.listResources;
  export const readResource: typeof globalThis.readResource;
  export const load: typeof globalThis.load;
  export const runWorkflow: typeof globalThis.runWorkflow;
  export const searchTools: typeof globalThis.searchTools;
  export const store: typeof globalThis.store;
  export const streamTool: typeof globalThis.streamTool;
  export const tools: typeof globalThis.tools;
}

// ---------------------------------------------------------------------------------------------
// Console
// ---------------------------------------------------------------------------------------------

/** Formats values as Deno does. Lines go to the log of the run, never into its result. */
interface Console {
  /** Logs values; a first string may contain `%s %d %i %f %j %o %O %c`. */
  log(...values: unknown[]): void;
  /** Like `log`, at level `debug`. */
  debug(...values: unknown[]): void;
  /** Like `log`, at level `info`. */
  info(...values: unknown[]): void;
  /** Like `log`, at level `warn`. */
  warn(...values: unknown[]): void;
  /** Like `log`, at level `error`. */
  error(...values: unknown[]): void;
  /** Logs the values at level `error` if the condition is falsy. */
  assert(condition?: unknown, ...values: unknown[]): void;
  /** Logs one value, nested objects up to `depth`. */
  dir(value?: unknown, options?: { depth?: number | null; [option: string]: unknown }): void;
  /** Same as `log`. */
  dirxml(...values: unknown[]): void;
  /** Logs rows as a table, optionally with only the given columns. */
  table(rows?: unknown, columns?: string[]): void;
  /** Indents the following lines. */
  group(...label: unknown[]): void;
  /** Same as `group`. */
  groupCollapsed(...label: unknown[]): void;
  /** Ends the last group. */
  groupEnd(): void;
  /** Logs how often it was called with this label. */
  count(label?: string): void;
  /** Resets the counter of this label. */
  countReset(label?: string): void;
  /** Starts a timer. */
  time(label?: string): void;
  /** Logs the time since `time`, and the values. */
  timeLog(label?: string, ...values: unknown[]): void;
  /** Logs the time since `time` and ends the timer. */
  timeEnd(label?: string): void;
  /** Logs the values and the stack of the call. */
  trace(...values: unknown[]): void;
  /** Does nothing: there is no terminal to clear. */
  clear(): void;
  /** Does nothing. */
  profile(label?: string): void;
  /** Does nothing. */
  profileEnd(label?: string): void;
  /** Does nothing. */
  timeStamp(label?: string): void;
}

/** The console of the script. */
declare var console: Console;

// ---------------------------------------------------------------------------------------------
// Timers
// ---------------------------------------------------------------------------------------------

/**
 * Calls a function after `delay` milliseconds. A pending timer does not delay the result of a run.
 *
 * @returns An id for `clearTimeout`.
 *
 * @example
 * await new Promise((resolve) => setTimeout(resolve, 100));
 */
declare function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
/** Calls a function every `delay` milliseconds. @returns An id for `clearInterval`. */
declare function setInterval(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
/** Cancels a timer of `setTimeout`. */
declare function clearTimeout(id?: number): void;
/** Cancels a timer of `setInterval`. */
declare function clearInterval(id?: number): void;
/** Calls a function as a microtask, after the current code has finished. */
declare function queueMicrotask(callback: () => void): void;

/** A clock that starts with the script. */
interface Performance {
  /** Milliseconds since the script began, with a resolution of 0.1. */
  now(): number;
  /** When the script began, in milliseconds since 1970. */
  readonly timeOrigin: number;
  /** An object with `timeOrigin`. */
  toJSON(): { timeOrigin: number };
}

/** The clock of the script. */
declare var performance: Performance;

// ---------------------------------------------------------------------------------------------
// Text, copies and randomness
// ---------------------------------------------------------------------------------------------

/** Decodes base64 into a string with one character per byte. */
declare function atob(data: string): string;
/** Encodes a string in base64. Its characters must be bytes: use `TextEncoder` for other text. */
declare function btoa(data: string): string;

/**
 * Makes a deep copy, including cycles, dates, maps, sets and typed arrays.
 *
 * @throws {DOMException} `DataCloneError` for a value that cannot be cloned, such as a function
 * or a `URL`.
 */
declare function structuredClone<T>(value: T, options?: { transfer?: ArrayBuffer[] }): T;

/** Encodes text as UTF-8. */
interface TextEncoder {
  /** Always `"utf-8"`. */
  readonly encoding: "utf-8";
  /** Returns the bytes of a text. */
  encode(text?: string): Uint8Array<ArrayBuffer>;
  /** Writes the bytes of a text into an array, as many as fit. */
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

/** The class of text encoders. */
declare var TextEncoder: {
  prototype: TextEncoder;
  new (): TextEncoder;
};

/** Decodes bytes into text. */
interface TextDecoder {
  /** The name of the encoding, in lower case. */
  readonly encoding: string;
  /** Whether invalid bytes throw instead of becoming U+FFFD. */
  readonly fatal: boolean;
  /** Whether a byte order mark is kept in the text. */
  readonly ignoreBOM: boolean;
  /** Decodes bytes; with `stream`, a character may continue in the next call. */
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

/** The class of text decoders. The default encoding is `utf-8`. */
declare var TextDecoder: {
  prototype: TextDecoder;
  new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

/** Cryptographically secure randomness. */
interface Crypto {
  /** Fills an integer array of at most 65,536 bytes with random values, and returns it. */
  getRandomValues<
    T extends
      | Int8Array
      | Uint8Array
      | Uint8ClampedArray
      | Int16Array
      | Uint16Array
      | Int32Array
      | Uint32Array
      | BigInt64Array
      | BigUint64Array,
  >(array: T): T;
  /** Returns a random UUID (version 4). */
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}

/** The random number source of the script. */
declare var crypto: Crypto;

// ---------------------------------------------------------------------------------------------
// URLs
// ---------------------------------------------------------------------------------------------

/** A parsed URL. Scripts have no network: nothing fetches it. */
interface URL {
  /** The fragment, with `#`, or an empty string. */
  hash: string;
  /** Host name and port. */
  host: string;
  /** The host name without the port. */
  hostname: string;
  /** The whole URL. */
  href: string;
  /** Protocol, host name and port. */
  readonly origin: string;
  /** The password, or an empty string. */
  password: string;
  /** The path, with its leading `/`. */
  pathname: string;
  /** The port, or an empty string for the default one. */
  port: string;
  /** The protocol, with `:`. */
  protocol: string;
  /** The query, with `?`, or an empty string. */
  search: string;
  /** The query as a list of pairs; changes to it change the URL. */
  readonly searchParams: URLSearchParams;
  /** The user name, or an empty string. */
  username: string;
  /** Same as `href`. */
  toJSON(): string;
  /** Same as `href`. */
  toString(): string;
}

/** The class of URLs. */
declare var URL: {
  prototype: URL;
  /** Parses a URL. @throws {TypeError} if it is not valid. */
  new (url: string | URL, base?: string | URL): URL;
  /** Whether the URL is valid. */
  canParse(url: string | URL, base?: string | URL): boolean;
  /** Parses a URL; returns `null` if it is not valid. */
  parse(url: string | URL, base?: string | URL): URL | null;
};

/** The query of a URL: a list of name-value pairs. */
interface URLSearchParams {
  /** The number of pairs. */
  readonly size: number;
  /** Adds a pair. */
  append(name: string, value: string): void;
  /** Removes all pairs with this name, or with this name and value. */
  delete(name: string, value?: string): void;
  /** The first value of this name, or `null`. */
  get(name: string): string | null;
  /** All values of this name. */
  getAll(name: string): string[];
  /** Whether there is a pair with this name, or with this name and value. */
  has(name: string, value?: string): boolean;
  /** Replaces all pairs with this name by one. */
  set(name: string, value: string): void;
  /** Sorts the pairs by name. */
  sort(): void;
  /** Calls a function for each pair. */
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, self?: any): void;
  /** Iterates over the names. */
  keys(): IteratorObject<string>;
  /** Iterates over the values. */
  values(): IteratorObject<string>;
  /** Iterates over the pairs. */
  entries(): IteratorObject<[string, string]>;
  /** The query without `?`. */
  toString(): string;
  /** Iterates over the pairs. */
  [Symbol.iterator](): IteratorObject<[string, string]>;
}

/** The class of URL queries. */
declare var URLSearchParams: {
  prototype: URLSearchParams;
  new (
    init?: string | Iterable<readonly [string, string]> | Record<string, string> | URLSearchParams,
  ): URLSearchParams;
};

// ---------------------------------------------------------------------------------------------
// Events and aborting
// ---------------------------------------------------------------------------------------------

/** An event of the DOM standard. Scripts have no DOM tree, so an event has one target. */
interface Event {
  /** The name of the event. */
  readonly type: string;
  /** The target that the event was dispatched to. */
  readonly target: EventTarget | null;
  /** The target whose listener is running. */
  readonly currentTarget: EventTarget | null;
  /** Same as `target`; deprecated. */
  readonly srcElement: EventTarget | null;
  /** Whether the event bubbles. */
  readonly bubbles: boolean;
  /** Whether `preventDefault` has an effect. */
  readonly cancelable: boolean;
  /** Whether the event crosses shadow roots. */
  readonly composed: boolean;
  /** Whether `preventDefault` was called. */
  readonly defaultPrevented: boolean;
  /** Whether the runtime dispatched the event. */
  readonly isTrusted: boolean;
  /** The current phase: `NONE`, `CAPTURING_PHASE`, `AT_TARGET` or `BUBBLING_PHASE`. */
  readonly eventPhase: number;
  /** When the event was created, in milliseconds. */
  readonly timeStamp: number;
  /** Set it to true to stop the propagation; deprecated. */
  cancelBubble: boolean;
  /** False if `preventDefault` was called; deprecated. */
  returnValue: boolean;
  /** The targets whose listeners are called. */
  composedPath(): EventTarget[];
  /** Makes `dispatchEvent` return false. */
  preventDefault(): void;
  /** Stops the propagation, and calls no further listener of this target. */
  stopImmediatePropagation(): void;
  /** Stops the propagation to further targets. */
  stopPropagation(): void;
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
}

/** Options of a new event; all default to false. */
interface EventInit {
  /** Whether the event bubbles. */
  bubbles?: boolean;
  /** Whether `preventDefault` has an effect. */
  cancelable?: boolean;
  /** Whether the event crosses shadow roots. */
  composed?: boolean;
}

/** The class of events. */
declare var Event: {
  prototype: Event;
  new (type: string, init?: EventInit): Event;
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
};

/** An event with data. */
interface CustomEvent<T = any> extends Event {
  /** The data of the event. */
  readonly detail: T;
}

/** The class of events with data. */
declare var CustomEvent: {
  prototype: CustomEvent;
  new <T>(type: string, init?: EventInit & { detail?: T }): CustomEvent<T>;
};

/** A listener of `addEventListener`: a function, or an object with `handleEvent`. */
type EventListenerOrObject = ((event: Event) => void) | { handleEvent(event: Event): void };

/** An object that events are dispatched to. */
interface EventTarget {
  /** Adds a listener; `once` removes it after its first call, `signal` when it is aborted. */
  addEventListener(
    type: string,
    listener: EventListenerOrObject | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
  ): void;
  /** Removes a listener. */
  removeEventListener(
    type: string,
    listener: EventListenerOrObject | null,
    options?: boolean | { capture?: boolean },
  ): void;
  /** Calls the listeners of an event; returns false if one called `preventDefault`. */
  dispatchEvent(event: Event): boolean;
}

/** The class of event targets. */
declare var EventTarget: {
  prototype: EventTarget;
  new (): EventTarget;
};

/** A signal that is aborted once. Its event is `abort`. */
interface AbortSignal extends EventTarget {
  /** Whether the signal is aborted. */
  readonly aborted: boolean;
  /** The reason of the abort, or undefined. */
  readonly reason: any;
  /** A listener for `abort`. */
  onabort: ((this: AbortSignal, event: Event) => any) | null;
  /** Throws `reason` if the signal is aborted. */
  throwIfAborted(): void;
}

/** Makes abort signals without a controller. */
declare var AbortSignal: {
  prototype: AbortSignal;
  /** A signal that is already aborted. */
  abort(reason?: any): AbortSignal;
  /** A signal that is aborted as soon as one of the signals is. */
  any(signals: Iterable<AbortSignal>): AbortSignal;
  /** A signal that is aborted with a `TimeoutError` after some milliseconds. */
  timeout(milliseconds: number): AbortSignal;
};

/** Owns an abort signal. */
interface AbortController {
  /** The signal to hand to the code that can be aborted. */
  readonly signal: AbortSignal;
  /** Aborts the signal; the default reason is an `AbortError`. */
  abort(reason?: any): void;
}

/** The class of abort controllers. */
declare var AbortController: {
  prototype: AbortController;
  new (): AbortController;
};

/** Legacy values of `DOMException.code`; use `name` instead. */
interface DOMExceptionCodes {
  readonly INDEX_SIZE_ERR: 1;
  readonly DOMSTRING_SIZE_ERR: 2;
  readonly HIERARCHY_REQUEST_ERR: 3;
  readonly WRONG_DOCUMENT_ERR: 4;
  readonly INVALID_CHARACTER_ERR: 5;
  readonly NO_DATA_ALLOWED_ERR: 6;
  readonly NO_MODIFICATION_ALLOWED_ERR: 7;
  readonly NOT_FOUND_ERR: 8;
  readonly NOT_SUPPORTED_ERR: 9;
  readonly INUSE_ATTRIBUTE_ERR: 10;
  readonly INVALID_STATE_ERR: 11;
  readonly SYNTAX_ERR: 12;
  readonly INVALID_MODIFICATION_ERR: 13;
  readonly NAMESPACE_ERR: 14;
  readonly INVALID_ACCESS_ERR: 15;
  readonly VALIDATION_ERR: 16;
  readonly TYPE_MISMATCH_ERR: 17;
  readonly SECURITY_ERR: 18;
  readonly NETWORK_ERR: 19;
  readonly ABORT_ERR: 20;
  readonly URL_MISMATCH_ERR: 21;
  readonly QUOTA_EXCEEDED_ERR: 22;
  readonly TIMEOUT_ERR: 23;
  readonly INVALID_NODE_TYPE_ERR: 24;
  readonly DATA_CLONE_ERR: 25;
}

/** An error of a web API: `AbortError`, `TimeoutError`, `DataCloneError`, ... */
interface DOMException extends Error, DOMExceptionCodes {
  /** The kind of error, such as `"AbortError"`. */
  readonly name: string;
  /** What went wrong. */
  readonly message: string;
  /** A legacy number; use `name` instead. */
  readonly code: number;
}

/** The class of web API errors. */
declare var DOMException: DOMExceptionCodes & {
  prototype: DOMException;
  new (message?: string, nameOrOptions?: string | { name?: string; cause?: unknown }): DOMException;
};
