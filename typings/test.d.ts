// What a file that `pml test` runs can import from "pml/test". `pml run` has no such module.

declare module "pml/test" {
  /** Milliseconds, or an object with them. */
  export type TestOptions = number | { timeout?: number };

  interface Declare<Body> {
    (name: string, body: Body, options?: TestOptions): void;
    (name: string, options: TestOptions, body: Body): void;
    /** One for each case; `%s` in the name stands for a value of it, `$name` for a field. */
    each<Case extends readonly [any, ...any[]]>(
      cases: readonly Case[],
    ): (name: string, body: (...values: Case) => unknown, options?: TestOptions) => void;
    each<Case>(
      cases: readonly Case[],
    ): (name: string, body: (value: Case) => unknown, options?: TestOptions) => void;
  }

  interface DeclareAll<Body> extends Declare<Body> {
    /** Of this file, run these and no others. */
    only: Declare<Body>;
    /** Do not run it. */
    skip: Declare<Body>;
    /** It is to be written. */
    todo: Declare<Body> & ((name: string) => void);
  }

  /**
   * A test. It fails if the function throws or its promise is rejected, and if nobody catches what a
   * timer throws or a promise is rejected with while it runs.
   */
  export const test: DeclareAll<() => unknown>;
  export const it: typeof test;
  /** A group of tests with its own setup and teardown. */
  export const describe: DeclareAll<() => void>;

  export function beforeAll(body: () => unknown): void;
  export function afterAll(body: () => unknown): void;
  export function beforeEach(body: () => unknown): void;
  export function afterEach(body: () => unknown): void;

  /** A tool that is a function of the test. */
  export interface ToolMock<Args = any> {
    readonly tool: string;
    /** The arguments of every call, in order. A mock of the whole file counts each test anew. */
    readonly calls: Args[];
    /** Answers differently from now on. */
    answer(answer: ((args: Args, tool: string) => unknown) | object | string | number | boolean | null): this;
    /**
     * Answers one call, and each further `once` the one after it; then the lasting answer counts.
     *
     * @example
     * mockTool("mail:send", { id: 1 }).once(() => {
     *   throw new ToolError("mail:send", { kind: "rate", message: "slow down", retryable: true });
     * });
     */
    once(answer: ((args: Args, tool: string) => unknown) | object | string | number | boolean | null): this;
    /** Forgets the calls. */
    reset(): this;
  }

  /**
   * Answers the calls of a tool. What the function gives becomes JSON, as a server's answer is;
   * what it throws is what the tool fails with. A mock that a test makes ends with the test.
   *
   * @param tool `server:tool`, or `server:*` for all tools of a server.
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
   * Answers every call that no mock answers from a recording, until the test ends. Time and
   * randomness are the recording's, and timers do not wait.
   *
   * @param path From the file of the test; `pml run --record` makes it.
   */
  export function useRecording(path: string): Promise<void>;

  /** A clock that a test moves. */
  export interface FakeTime {
    /** Milliseconds since 1970. */
    readonly now: number;
    set(time: string | number | Date): void;
    /** Moves the clock and fires what becomes due, in order. */
    advance(ms: number): Promise<void>;
    /** Fires timers until none is left. */
    runAll(): Promise<void>;
    /** Back to the real time; the end of the test does it too. */
    restore(): void;
  }

  /** Stops the clock and seeds randomness, until the test ends. */
  export function fakeTime(
    start?: string | number | Date,
    options?: { seed?: number },
  ): FakeTime;

  /**
   * Runs a script as `pml run` does, with the mocks of the test, and gives its result.
   *
   * @param path From the file of the test.
   */
  export function runScript<T = any>(path: string, options?: { args?: string[] }): Promise<T>;

  /** What a failed claim throws. */
  export class AssertionError extends Error {}

  interface Claims<Result> {
    /** The very same value. */
    toBe(expected: unknown): Result;
    /** The same contents; properties that are undefined do not count. */
    toEqual(expected: unknown): Result;
    /** The same contents and the same classes; a hole is not `undefined`. */
    toStrictEqual(expected: unknown): Result;
    /** At least these properties. */
    toMatchObject(expected: object): Result;
    toBeTruthy(): Result;
    toBeFalsy(): Result;
    toBeNull(): Result;
    toBeUndefined(): Result;
    toBeDefined(): Result;
    toBeNaN(): Result;
    toBeInstanceOf(type: abstract new (...args: any) => unknown): Result;
    toBeTypeOf(type: string): Result;
    toBeGreaterThan(limit: number | bigint): Result;
    toBeGreaterThanOrEqual(limit: number | bigint): Result;
    toBeLessThan(limit: number | bigint): Result;
    toBeLessThanOrEqual(limit: number | bigint): Result;
    toBeCloseTo(expected: number, digits?: number): Result;
    toMatch(pattern: string | RegExp): Result;
    toContain(item: unknown): Result;
    toContainEqual(item: unknown): Result;
    toHaveLength(length: number): Result;
    /** `path` is `a.b.0`, or a list of names. */
    toHaveProperty(path: string | readonly (string | number)[], value?: unknown): Result;
    /** A part of the message, a pattern, a class, or properties of the error. */
    toThrow(expected?: string | RegExp | (new (...args: any) => unknown) | object): Result;
    toHaveBeenCalled(): Result;
    toHaveBeenCalledTimes(times: number): Result;
    toHaveBeenCalledWith(args?: object): Result;
    toHaveBeenLastCalledWith(args?: object): Result;
    /** Counted from 1. */
    toHaveBeenNthCalledWith(n: number, args?: object): Result;
    /** The text that was kept in `__snapshots__`; `pml test --update` accepts another one. */
    toMatchSnapshot(hint?: string): Result;
  }

  interface Expectation extends Claims<void> {
    readonly not: Claims<void>;
    /** Claims about what a promise is fulfilled with. */
    readonly resolves: Claims<Promise<void>> & { readonly not: Claims<Promise<void>> };
    /** Claims about what a promise, or an async function, is rejected with. */
    readonly rejects: Claims<Promise<void>> & { readonly not: Claims<Promise<void>> };
  }

  interface Expect {
    (actual: unknown): Expectation;
    /** Stands for any value of a class, inside an expected value. */
    any(type: abstract new (...args: any) => unknown): any;
    /** Anything but null and undefined. */
    anything(): any;
    objectContaining(part: object): any;
    arrayContaining(items: readonly unknown[]): any;
    stringContaining(part: string): any;
    stringMatching(pattern: string | RegExp): any;
    closeTo(number: number, digits?: number): any;
    fail(message?: string): never;
  }

  export const expect: Expect;
}
