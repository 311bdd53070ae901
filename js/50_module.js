// The module `pml`: `import { callTool } from "pml"`. Its exports are also globals (90_start.js).

export { ToolError } from "ext:pml/39_requests.js";
export * from "ext:pml/40_tools.js";
export * from "ext:pml/43_batch.js";
export * from "ext:pml/46_storage.js";
export * from "ext:pml/47_checkpoint.js";
export * from "ext:pml/48_workflow.js";
export * from "ext:pml/49_stream.js";
