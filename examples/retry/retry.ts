// Calls a tool that fails now and then: waits longer after each failure, gives up at some point,
// and does not repeat what cannot succeed.
//
//   pml run --config examples/retry/servers.json examples/retry/retry.ts

export interface Patience {
  attempts: number;
  firstDelayMs: number;
  /** Whether the same call may succeed later. */
  mayPass(error: ToolError): boolean;
}

const PATIENCE: Patience = {
  attempts: 5,
  firstDelayMs: 100,
  mayPass: (error) => error.retryable || /try again/.test(error.message),
};

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

export async function callPatiently<T>(
  tool: string,
  input: object,
  patience: Patience = PATIENCE,
): Promise<T> {
  let delay = patience.firstDelayMs;
  for (let attempt = 1; ; attempt++) {
    const answer = await callTool<T>(tool, input);
    if (answer.success) return answer.result;
    const { error } = answer;
    if (attempt === patience.attempts || !patience.mayPass(error)) throw error;
    // What the server asks for counts; else a delay that doubles, with some chance in it so that
    // many callers do not come back at the same moment.
    const wait = error.retryAfterMs ?? Math.round(delay * (0.5 + Math.random() / 2));
    console.warn(`${tool}: ${error.message} (attempt ${attempt}, again in ${wait} ms)`);
    await sleep(wait);
    delay *= 2;
  }
}

export default async function retry() {
  const flaky = await callPatiently("demo:flaky", { key: "example", failures: 2 });
  const lost = await callPatiently("demo:read_file", { path: "no-such-file.md" }).catch(
    (error: ToolError) => `not repeated: ${error.message}`,
  );
  return { flaky, lost };
}
