// Calls a tool that fails intermittently: retries with exponential backoff and jitter, up to a
// maximum number of attempts, and does not retry a permanent failure.
//
//   pml run --config examples/retry/servers.json examples/retry/retry.ts

export interface RetryPolicy {
  attempts: number;
  firstDelayMs: number;
  /** Whether the same call may succeed later. */
  isRetryable(error: ToolError): boolean;
}

const DEFAULT_POLICY: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 100,
  isRetryable: (error) => error.retryable || /try again/.test(error.message),
};

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

export async function callWithRetry<T>(
  tool: string,
  input: object,
  policy: RetryPolicy = DEFAULT_POLICY,
): Promise<T> {
  let delay = policy.firstDelayMs;
  for (let attempt = 1; ; attempt++) {
    const call = await callTool<T>(tool, input);
    if (call.success) return call.result;
    const { error } = call;
    if (attempt === policy.attempts || !policy.isRetryable(error)) throw error;
    // The server's own delay wins. Otherwise the delay doubles, with jitter so that many callers do
    // not retry at the same moment.
    const wait = error.retryAfterMs ?? Math.round(delay * (0.5 + Math.random() / 2));
    console.warn(`${tool}: ${error.message} (attempt ${attempt}, again in ${wait} ms)`);
    await sleep(wait);
    delay *= 2;
  }
}

export default async function retry() {
  const flaky = await callWithRetry("demo:flaky", { key: "example", failures: 2 });
  const lost = await callWithRetry("demo:read_file", { path: "no-such-file.md" }).catch(
    (error: ToolError) => `not repeated: ${error.message}`,
  );
  return { flaky, lost };
}
