// The module behind `import ... from "pml/test"`. Only `pml test` lets a script have it.

export { AssertionError, expect } from "ext:pml/72_expect.js";
export { mockTool } from "ext:pml/73_mocks.js";
export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  test,
  test as it,
} from "ext:pml/74_declare.js";
export { fakeTime, runScript, useRecording } from "ext:pml/76_test_environment.js";
