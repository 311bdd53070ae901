// The module behind `import ... from "pml/test"`. Only `pml test` lets a script have it.

export { AssertionError, expect } from "ext:pml/72_expect.js";
export { mockTool } from "ext:pml/73_mocks.js";
export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  fakeTime,
  runScript,
  test,
  test as it,
  useRecording,
} from "ext:pml/74_tests.js";
