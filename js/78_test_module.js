// The module `pml/test`: `import { test } from "pml/test"`. Only `pml test` resolves it.

import { AssertionError, expect } from "ext:pml/72_expect.js";
import { mockTool } from "ext:pml/73_mocks.js";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  test,
} from "ext:pml/74_declare.js";
import { fakeTime, runScript, useRecording } from "ext:pml/76_test_environment.js";

// Parsed by tests: one name per line.
export {
  afterAll,
  afterEach,
  AssertionError,
  beforeAll,
  beforeEach,
  describe,
  expect,
  fakeTime,
  it,
  mockTool,
  runScript,
  test,
  useRecording,
};
