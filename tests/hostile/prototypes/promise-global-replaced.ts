// kind: ok
// result: [[1],"timer"]
(globalThis as { Promise: unknown }).Promise = class {
  constructor() {
    throw new Error("replaced");
  }
};
const answers = await callToolsBatch([{ tool: "demo:echo", args: { n: 1 } }]);
export default [answers.map((answer) => answer.result.n), (async () => "timer")()];
