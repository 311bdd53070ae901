// The module "pml/test" of the files that `pml test` runs. `pml run` does not have it.

/**
 * Tests of scripts, without servers.
 *
 * @example
 * import { expect, mockTool, test } from "pml/test";
 * import audit from "./audit.ts";
 *
 * test("counts files", async () => {
 *   mockTool("fs:list_files", () => ({ files: ["a.json"] }));
 *   expect(await audit()).toEqual({ files: 1 });
 * });
 */
declare module "pml/test" {
  /** The timeout in milliseconds, or an object with it. */
  export type TestOptions = number | { timeout?: number };

  /** Declares a test or a group. */
  interface Declare<Body> {
    (name: string, body: Body, options?: TestOptions): void;
    (name: string, options: TestOptions, body: Body): void;
    /**
     * Declares one for each case. In the name, `%s` stands for a value of the case and `$name` for
     * a field of it.
     *
     * @example
     * test.each([[1, 2], [3, 6]])("%s doubled is %s", (value, doubled) => {
     *   expect(2 * value).toBe(doubled);
     * });
     */
    each<Case extends readonly [any, ...any[]]>(
      cases: readonly Case[],
    ): (name: string, body: (...values: Case) => unknown, options?: TestOptions) => void;
    each<Case>(
      cases: readonly Case[],
    ): (name: string, body: (value: Case) => unknown, options?: TestOptions) => void;
  }

  /** Declares a test or a group, with modifiers. */
  interface DeclareAll<Body> extends Declare<Body> {
    /** Runs only those of the file that are marked `only`. In CI, such a file fails. */
    only: Declare<Body>;
    /** Skips it. */
    skip: Declare<Body>;
    /** Lists it as not written yet. */
    todo: Declare<Body> & ((name: string) => void);
  }

  /**
   * Declares a test. It fails if its function throws or its promise is rejected, and if an
   * exception of a timer or a rejected promise stays uncaught while it runs.
   *
   * @example
   * test("adds", async () => {
   *   expect(await add(1, 2)).toBe(3);
   * });
   */
  export const test: DeclareAll<() => unknown>;
  /** Same as `test`. */
  export const it: typeof test;
  /** Declares a group of tests with its own hooks. Its function is synchronous. */
  export const describe: DeclareAll<() => void>;

  /** Runs before the first test of the file or group. If it fails, all its tests fail. */
  export function beforeAll(body: () => unknown): void;
  /** Runs after the last test of the file or group. */
  export function afterAll(body: () => unknown): void;
  /** Runs before each test of the file or group, those of outer groups first. */
  export function beforeEach(body: () => unknown): void;
  /** Runs after each test of the file or group, those of inner groups first. */
  export function afterEach(body: () => unknown): void;

  /** A tool that a test implements, and its calls. */
  export interface ToolMock<Args = any> {
    /** The id of the mocked tool, as given to `mockTool`. */
    readonly tool: string;
    /** The arguments of each call, in order. The calls of earlier tests are not included. */
    readonly calls: Args[];
    /** Sets the result of all further calls: a value, or a function of the arguments. */
    answer(answer: ((args: Args, tool: string) => unknown) | object | string | number | boolean | null): this;
    /**
     * Sets the result of one call. Several are used in order, one per call; after them the result
     * of `mockTool` or `answer` is used again.
     *
     * @example
     * mockTool("mail:send", { id: 1 }).once(() => {
     *   throw new ToolError("mail:send", { kind: "rate", message: "slow down", retryable: true });
     * });
     */
    once(answer: ((args: Args, tool: string) => unknown) | object | string | number | boolean | null): this;
    /** Clears `calls`. */
    reset(): this;
  }

  /**
   * Replaces a tool. The return value of the function becomes the tool's result, as JSON; an error
   * that it throws becomes the tool's failure. A mock that a test makes is removed when the test
   * ends.
   *
   * @param tool The id of the tool, `server:tool`, or `server:*` for all tools of a server.
   * @param answer The result: a value, or a function of the arguments and the tool id.
   *
   * @example
   * const read = mockTool("fs:read_file", ({ path }) => `text of ${path}`);
   * expect(read).toHaveBeenCalledWith({ path: "a.txt" });
   */
  export function mockTool<Args = any>(
    tool: string,
    answer?: ((args: Args, tool: string) => unknown) | object | string | number | boolean | null,
  ): ToolMock<Args>;

  /**
   * Replays a recording until the test ends, for every call that has no mock. Time and randomness
   * are those of the recording, and timers fire without waiting.
   *
   * @param path The path of the recording, relative to the test file. `pml run --record` makes one.
   *
   * @example
   * await useRecording("./audit.recording.json");
   */
  export function useRecording(path: string): Promise<void>;

  /** A fake clock that only the test moves. */
  export interface FakeTime {
    /** The fake time, in milliseconds since 1970. */
    readonly now: number;
    /** Sets the time without firing timers. */
    set(time: string | number | Date): void;
    /** Moves the clock by `ms` milliseconds and fires the timers that become due, in order. */
    advance(ms: number): Promise<void>;
    /** Fires timers until none is left. */
    runAll(): Promise<void>;
    /** Restores the real time; the end of the test does it too. */
    restore(): void;
  }

  /**
   * Replaces time with a fake clock and seeds randomness, until the test ends.
   *
   * @param start The initial time; default now.
   *
   * @example
   * const time = fakeTime("2026-01-01");
   * const result = retry();
   * await time.advance(1_000);
   * expect(await result).toBe("done");
   */
  export function fakeTime(
    start?: string | number | Date,
    options?: { seed?: number },
  ): FakeTime;

  /**
   * Runs a script as `pml run` does, with the mocks of the test, and returns its result.
   *
   * @param path The path of the script, relative to the test file.
   *
   * @example
   * expect(await runScript("./audit.ts", { args: ["--all"] })).toEqual({ files: 1 });
   */
  export function runScript<T = any>(path: string, options?: { args?: string[] }): Promise<T>;

  /** The error of a failed matcher. */
  export class AssertionError extends Error {}

  /** The matchers of `expect`. Each throws an `AssertionError` if the value does not match. */
  interface Claims<Result> {
    /** The identical value, as by `Object.is`. */
    toBe(expected: unknown): Result;
    /** Deeply equal; properties that are undefined are ignored. */
    toEqual(expected: unknown): Result;
    /** Deeply equal, with the same classes; an array hole differs from `undefined`. */
    toStrictEqual(expected: unknown): Result;
    /** Has at least these properties, deeply. */
    toMatchObject(expected: object): Result;
    /** True in a condition. */
    toBeTruthy(): Result;
    /** False in a condition. */
    toBeFalsy(): Result;
    /** `null`. */
    toBeNull(): Result;
    /** `undefined`. */
    toBeUndefined(): Result;
    /** Anything but `undefined`. */
    toBeDefined(): Result;
    /** `NaN`. */
    toBeNaN(): Result;
    /** An instance of the class. */
    toBeInstanceOf(type: abstract new (...args: any) => unknown): Result;
    /** A value whose `typeof` is the text. */
    toBeTypeOf(type: string): Result;
    /** Greater than the limit. */
    toBeGreaterThan(limit: number | bigint): Result;
    /** Greater than the limit, or equal to it. */
    toBeGreaterThanOrEqual(limit: number | bigint): Result;
    /** Less than the limit. */
    toBeLessThan(limit: number | bigint): Result;
    /** Less than the limit, or equal to it. */
    toBeLessThanOrEqual(limit: number | bigint): Result;
    /** Differs by less than half a unit of the last of `digits` decimals; default 2. */
    toBeCloseTo(expected: number, digits?: number): Result;
    /** A string that contains the text or matches the pattern. */
    toMatch(pattern: string | RegExp): Result;
    /** A string with this part, or an iterable with this identical item. */
    toContain(item: unknown): Result;
    /** An iterable with an item that is deeply equal. */
    toContainEqual(item: unknown): Result;
    /** A value with this `length`. */
    toHaveLength(length: number): Result;
    /** Has the property, and the value if given. `path` is `a.b.0`, or a list of names. */
    toHaveProperty(path: string | readonly (string | number)[], value?: unknown): Result;
    /**
     * A function that throws. `expected` is a part of the message, a pattern, a class, or
     * properties of the error.
     */
    toThrow(expected?: string | RegExp | (new (...args: any) => unknown) | object): Result;
    /** A mock that was called. */
    toHaveBeenCalled(): Result;
    /** A mock that was called so many times. */
    toHaveBeenCalledTimes(times: number): Result;
    /** A mock that was called with these arguments at least once. */
    toHaveBeenCalledWith(args?: object): Result;
    /** A mock whose last call had these arguments. */
    toHaveBeenLastCalledWith(args?: object): Result;
    /** A mock whose call `n`, counted from 1, had these arguments. */
    toHaveBeenNthCalledWith(n: number, args?: object): Result;
    /** Equal to the text stored in `__snapshots__`; `pml test --update` accepts a new one. */
    toMatchSnapshot(hint?: string): Result;
  }

  /** The return value of `expect`. */
  interface Expectation extends Claims<void> {
    /** The negated matchers. */
    readonly not: Claims<void>;
    /** Matchers for the value that a promise is fulfilled with. */
    readonly resolves: Claims<Promise<void>> & { readonly not: Claims<Promise<void>> };
    /** Matchers for the reason that a promise, or the promise of a function, is rejected with. */
    readonly rejects: Claims<Promise<void>> & { readonly not: Claims<Promise<void>> };
  }

  /** The function `expect`, and placeholders for use inside expected values. */
  interface Expect {
    (actual: unknown): Expectation;
    /** Matches any value of a class. */
    any(type: abstract new (...args: any) => unknown): any;
    /** Matches anything but null and undefined. */
    anything(): any;
    /** Matches an object that has at least these properties. */
    objectContaining(part: object): any;
    /** Matches an array that has all these items, in any order. */
    arrayContaining(items: readonly unknown[]): any;
    /** Matches a string that contains the text. */
    stringContaining(part: string): any;
    /** Matches a string that contains the text or matches the pattern. */
    stringMatching(pattern: string | RegExp): any;
    /** Matches a number as `toBeCloseTo` does. */
    closeTo(number: number, digits?: number): any;
    /** Fails the test. */
    fail(message?: string): never;
  }

  /**
   * Checks a value with a matcher.
   *
   * @example
   * expect(result).toEqual({ id: expect.any(Number), name: "a" });
   * await expect(load("gone")).rejects.toThrow("expired");
   */
  export const expect: Expect;
}
