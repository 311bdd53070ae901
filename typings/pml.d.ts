// What a script that `pml run` executes can use besides the language itself.
//
// An editor needs to know three things: this file, the language of today, and that there is no
// browser. Beside your scripts, a tsconfig.json with
//
//   { "extends": "<path to pml>/typings/tsconfig.json", "include": ["*.ts"] }
//
// says all of them. For a single file, its first line does for this file alone:
//
//   /// <reference path="<path to pml>/typings/pml.d.ts" />
//
// TypeScript's own library also declares `eval` and `SharedArrayBuffer`; a script has neither.

// ---------------------------------------------------------------------------------------------
// Tools
// ---------------------------------------------------------------------------------------------

/** A tool of an MCP server, as `searchTools` finds it. */
interface MCPTool {
  /** What `callTool` takes: `server:tool`. */
  id: string;
  /** The server's name in the configuration, as in `tools.server`. */
  server: string;
  /** The tool's name on its server. */
  name: string;
  /** What the server says about it. */
  description?: string;
  /** A JSON Schema of its arguments. */
  inputSchema?: Record<string, any>;
  /** How well it fits the query, from 0 to 1. */
  score: number;
}

/** Everything known about a tool. */
interface ToolDescription {
  /** What `callTool` takes: `server:tool`. */
  id: string;
  /** The server's name in the configuration. */
  server: string;
  /** The tool's name on its server. */
  name: string;
  /** What the server says about it. */
  description?: string;
  /** A JSON Schema of its arguments. */
  inputSchema?: Record<string, any>;
  [detail: string]: unknown;
}

/** Why a call failed: the `error` of `callTool`, and what `tools.server.tool()` throws. */
interface ToolError extends Error {
  readonly name: "ToolError";
  /**
   * What went wrong: `tool` (the tool said so), `unknown` (there is no such tool), `arguments`
   * (they do not fit its schema), `denied` (policy), `calls` (too many), `unavailable` (its server
   * is down), `timeout`, `cancelled`, `output` (the answer is too large), `protocol` (its server
   * does not keep to MCP).
   */
  kind: string;
  /** The tool that was called: `server:tool`. */
  tool: string;
  /** The same call may work later. */
  retryable: boolean;
  /** When the server said how long to wait: so many milliseconds. */
  retryAfterMs?: number;
}

declare var ToolError: {
  prototype: ToolError;
  new (
    tool: string,
    failure: { kind: string; message: string; retryable: boolean; retryAfterMs?: number },
  ): ToolError;
};

/** What `callTool` answers. Look at `success` first; TypeScript then knows the rest. */
type ToolResult<T = any> =
  | { success: true; result: T; error?: undefined }
  | { success: false; error: ToolError; result?: undefined };

/** One call of `callToolsBatch`. */
interface ToolCall {
  /** `server:tool` */
  tool: string;
  /** Arguments by name. */
  args?: object | null;
}

interface BatchOptions {
  /** Calls under way at once; 64 unless told otherwise, and never more than the run allows. */
  concurrency?: number;
  /** After a failure, start no further call of the batch. */
  stopOnError?: boolean;
}

/**
 * Finds tools that do what the words say, best first.
 *
 * @param query What the tool should do, in up to 500 characters: `"read a file and parse JSON"`.
 * @param limit How many at most, a whole number from 1 to 50; 10 unless told otherwise.
 * @param threshold Leave out what scores lower, from 0 to 1.
 *
 * @example
 * const [best] = await searchTools("send a chat message", 1);
 */
declare function searchTools(query: string, limit?: number, threshold?: number): Promise<MCPTool[]>;

/**
 * Tells everything about one tool, with the schema of its arguments.
 *
 * @param tool `server:tool`
 * @throws {ToolError} if there is no such tool.
 */
declare function describeTool(tool: string): Promise<ToolDescription>;

/**
 * Calls a tool. A tool that fails does not throw: look at `success`.
 *
 * @param tool `server:tool`
 * @param args Arguments by name.
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
 * Calls many tools, several at once, and answers in the order of the calls.
 *
 * @example
 * const answers = await callToolsBatch(paths.map((path) => ({ tool: "fs:read_file", args: { path } })));
 */
declare function callToolsBatch<T = any>(
  calls: readonly ToolCall[],
  options?: BatchOptions,
): Promise<ToolResult<T>[]>;

/** A resource of a server, as `listResources` gives it; servers may say more. */
interface MCPResource {
  /** What `readResource` takes. */
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  [more: string]: any;
}

/** A part of a resource: text, or bytes in base64. */
interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  [more: string]: any;
}

/** A prompt of a server, as `listPrompts` gives it; servers may say more. */
interface MCPPrompt {
  /** What `getPrompt` takes. */
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; description?: string; required?: boolean }[];
  [more: string]: any;
}

/** A prompt, filled in. */
interface PromptResult {
  description?: string;
  messages: { role: "user" | "assistant"; content: any }[];
  [more: string]: any;
}

/** The resources of a server. @throws {ToolError} */
declare function listResources(server: string): Promise<MCPResource[]>;

/** The contents of a resource. @throws {ToolError} */
declare function readResource(server: string, uri: string): Promise<ResourceContents[]>;

/** The prompts of a server. @throws {ToolError} */
declare function listPrompts(server: string): Promise<MCPPrompt[]>;

/** A prompt of a server, filled in with arguments by name. @throws {ToolError} */
declare function getPrompt(
  server: string,
  name: string,
  args?: object | null,
): Promise<PromptResult>;

/** The tools of one server, as functions, where no types were generated. */
interface ServerTools {
  readonly [tool: string]: <T = any>(args?: object | null) => Promise<T>;
}

/**
 * The servers, by their names in the configuration: what `pml types` writes merges into it. While
 * it is empty, `tools` takes any server and any tool.
 */
interface ToolServers {}

/** Arguments and results by tool id: what `pml types` writes merges into it. */
interface KnownTools {}

/**
 * Every tool as a function that gives the value itself and throws `ToolError` when it fails. Any
 * name is taken and none is listed: `Object.keys` of it is empty, `searchTools` finds what there is.
 *
 * @example
 * const text = await tools.fs.read_file<string>({ path: "a.json" });
 */
declare var tools: [keyof ToolServers] extends [never]
  ? { readonly [server: string]: ServerTools }
  : ToolServers;

/**
 * Keeps a value for later scripts of the same session, as JSON has it: `undefined` becomes `null`.
 * It replaces what stood under the key.
 *
 * @throws {ToolError} if the session's storage is full.
 *
 * @example
 * await store("seen", ids);
 */
declare function store(key: string, value: unknown): Promise<void>;

/**
 * Gives back what `store` kept under a key, or `undefined`; or a result that was too large to
 * show, by the handle that was shown in its place.
 *
 * @throws {ToolError} if a handle has expired.
 *
 * @example
 * const seen = (await load<string[]>("seen")) ?? [];
 */
declare function load<T = any>(key: string): Promise<T>;

/** The arguments of the script: what stands after `--` on the command line. */
declare var args: string[];

interface ImportMeta {
  /** The script's name as an address; it says nothing of where the script lies. */
  readonly url: string;
  /** The path of `url`. */
  readonly filename: string;
  /** The folder of `filename`. */
  readonly dirname: string;
  /** Always true: a script is the only module there is. */
  readonly main: boolean;
  /** The address of what can be imported. Anything else throws. */
  resolve(specifier: string): string;
}

// The same names, for those who like to import what they use.
declare module "pml" {
  export type BatchOptions = globalThis.BatchOptions;
  export type MCPPrompt = globalThis.MCPPrompt;
  export type MCPResource = globalThis.MCPResource;
  export type MCPTool = globalThis.MCPTool;
  export type PromptResult = globalThis.PromptResult;
  export type ResourceContents = globalThis.ResourceContents;
  export type ServerTools = globalThis.ServerTools;
  export type ToolCall = globalThis.ToolCall;
  export type ToolDescription = globalThis.ToolDescription;
  export type ToolError = globalThis.ToolError;
  export type ToolResult<T = any> = globalThis.ToolResult<T>;
  export type ToolServers = globalThis.ToolServers;
  export const ToolError: typeof globalThis.ToolError;
  export const args: typeof globalThis.args;
  export const callTool: typeof globalThis.callTool;
  export const callToolsBatch: typeof globalThis.callToolsBatch;
  export const describeTool: typeof globalThis.describeTool;
  export const getPrompt: typeof globalThis.getPrompt;
  export const listPrompts: typeof globalThis.listPrompts;
  export const listResources: typeof globalThis.listResources;
  export const readResource: typeof globalThis.readResource;
  export const load: typeof globalThis.load;
  export const searchTools: typeof globalThis.searchTools;
  export const store: typeof globalThis.store;
  export const tools: typeof globalThis.tools;
}

// ---------------------------------------------------------------------------------------------
// Console
// ---------------------------------------------------------------------------------------------

/** Prints values as Deno does. Lines go to the run's log, never into its result. */
interface Console {
  /** Prints values; a first string may hold `%s %d %i %f %j %o %O %c`. */
  log(...values: unknown[]): void;
  /** Like `log`, at level `debug`. */
  debug(...values: unknown[]): void;
  /** Like `log`, at level `info`. */
  info(...values: unknown[]): void;
  /** Like `log`, at level `warn`. */
  warn(...values: unknown[]): void;
  /** Like `log`, at level `error`. */
  error(...values: unknown[]): void;
  /** Prints the values as an error if the condition is false. */
  assert(condition?: unknown, ...values: unknown[]): void;
  /** Prints one value, as deep as asked. */
  dir(value?: unknown, options?: { depth?: number | null; [option: string]: unknown }): void;
  /** The same as `log`. */
  dirxml(...values: unknown[]): void;
  /** Prints rows as a table, with the named columns only if they are given. */
  table(rows?: unknown, columns?: string[]): void;
  /** Indents what follows. */
  group(...label: unknown[]): void;
  /** The same as `group`. */
  groupCollapsed(...label: unknown[]): void;
  /** Ends the last group. */
  groupEnd(): void;
  /** Prints how often it was called with this label. */
  count(label?: string): void;
  /** Starts counting again. */
  countReset(label?: string): void;
  /** Starts a timer. */
  time(label?: string): void;
  /** Prints the time since `time`, and the values. */
  timeLog(label?: string, ...values: unknown[]): void;
  /** Prints the time since `time` and ends the timer. */
  timeEnd(label?: string): void;
  /** Prints the values and where this was called. */
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

declare var console: Console;

// ---------------------------------------------------------------------------------------------
// Timers
// ---------------------------------------------------------------------------------------------

/** Calls a function later. A timer that is left over does not hold up the result of a run. */
declare function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
/** Calls a function again and again. */
declare function setInterval(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
/** Forgets a timer of `setTimeout`. */
declare function clearTimeout(id?: number): void;
/** Forgets a timer of `setInterval`. */
declare function clearInterval(id?: number): void;
/** Calls a function as soon as the current code is done. */
declare function queueMicrotask(callback: () => void): void;

interface Performance {
  /** Milliseconds since the script began, in steps of 0.1. */
  now(): number;
  /** When the script began, in milliseconds since 1970. */
  readonly timeOrigin: number;
  toJSON(): { timeOrigin: number };
}

declare var performance: Performance;

// ---------------------------------------------------------------------------------------------
// Text, copies and randomness
// ---------------------------------------------------------------------------------------------

/** Text from base64, one character for each byte. */
declare function atob(data: string): string;
/** Base64 of a text whose characters are bytes; encode others with `TextEncoder` first. */
declare function btoa(data: string): string;

/**
 * A deep copy, with cycles, dates, maps, sets and typed arrays. What has no copy, such as a function
 * or a `URL`, throws a `DataCloneError`.
 */
declare function structuredClone<T>(value: T, options?: { transfer?: ArrayBuffer[] }): T;

/** From text to UTF-8. */
interface TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

declare var TextEncoder: {
  prototype: TextEncoder;
  new (): TextEncoder;
};

/** From bytes to text. */
interface TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare var TextDecoder: {
  prototype: TextDecoder;
  new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

interface Crypto {
  /** Fills an integer array, of at most 65,536 bytes, with random values and gives it back. */
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
  /** A random UUID of version 4. */
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}

declare var crypto: Crypto;

// ---------------------------------------------------------------------------------------------
// Addresses
// ---------------------------------------------------------------------------------------------

/** An address, taken apart. Nothing here fetches it. */
interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}

declare var URL: {
  prototype: URL;
  /** Throws `TypeError` if it is no address. */
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
  /** `null` if it is no address. */
  parse(url: string | URL, base?: string | URL): URL | null;
};

/** The query of an address: a list of pairs. */
interface URLSearchParams {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, self?: any): void;
  keys(): IteratorObject<string>;
  values(): IteratorObject<string>;
  entries(): IteratorObject<[string, string]>;
  toString(): string;
  [Symbol.iterator](): IteratorObject<[string, string]>;
}

declare var URLSearchParams: {
  prototype: URLSearchParams;
  new (
    init?: string | Iterable<readonly [string, string]> | Record<string, string> | URLSearchParams,
  ): URLSearchParams;
};

// ---------------------------------------------------------------------------------------------
// Events and aborting
// ---------------------------------------------------------------------------------------------

interface Event {
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly srcElement: EventTarget | null;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly isTrusted: boolean;
  readonly eventPhase: number;
  readonly timeStamp: number;
  cancelBubble: boolean;
  returnValue: boolean;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopImmediatePropagation(): void;
  stopPropagation(): void;
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
}

interface EventInit {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

declare var Event: {
  prototype: Event;
  new (type: string, init?: EventInit): Event;
  readonly NONE: 0;
  readonly CAPTURING_PHASE: 1;
  readonly AT_TARGET: 2;
  readonly BUBBLING_PHASE: 3;
};

interface CustomEvent<T = any> extends Event {
  readonly detail: T;
}

declare var CustomEvent: {
  prototype: CustomEvent;
  new <T>(type: string, init?: EventInit & { detail?: T }): CustomEvent<T>;
};

type EventListenerOrObject = ((event: Event) => void) | { handleEvent(event: Event): void };

interface EventTarget {
  addEventListener(
    type: string,
    listener: EventListenerOrObject | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrObject | null,
    options?: boolean | { capture?: boolean },
  ): void;
  dispatchEvent(event: Event): boolean;
}

declare var EventTarget: {
  prototype: EventTarget;
  new (): EventTarget;
};

interface AbortSignal extends EventTarget {
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => any) | null;
  throwIfAborted(): void;
}

declare var AbortSignal: {
  prototype: AbortSignal;
  abort(reason?: any): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
  /** Aborts with a `TimeoutError` after so many milliseconds. */
  timeout(milliseconds: number): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}

declare var AbortController: {
  prototype: AbortController;
  new (): AbortController;
};

/** Numbers from the past, for `code`; use `name`. */
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

/** An error of the web's own: `AbortError`, `TimeoutError`, `DataCloneError`, ... */
interface DOMException extends Error, DOMExceptionCodes {
  readonly name: string;
  readonly message: string;
  /** A number from the past; use `name`. */
  readonly code: number;
}

declare var DOMException: DOMExceptionCodes & {
  prototype: DOMException;
  new (message?: string, nameOrOptions?: string | { name?: string; cause?: unknown }): DOMException;
};
