// The module `pml`: `import { callTool } from "pml"`. The same names are globals (90_start.js).

import {
  args,
  callTool,
  callToolsBatch,
  describeTool,
  getPrompt,
  listPrompts,
  listResources,
  readResource,
  searchTools,
  ToolError,
  tools,
} from "ext:pml/40_tools.js";
import { load, store } from "ext:pml/46_storage.js";

// Parsed by tests: one name per line.
export {
  args,
  callTool,
  callToolsBatch,
  describeTool,
  getPrompt,
  listPrompts,
  listResources,
  load,
  readResource,
  searchTools,
  store,
  ToolError,
  tools,
};
