// The module behind `import ... from "pml"`.

export {
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
export { load, store } from "ext:pml/46_storage.js";
