// kind: ok
// result: [true,["ToolError","args","callTool","callToolsBatch","checkpoint","describeTool","getPrompt","listPrompts","listResources","load","readResource","runWorkflow","searchTools","store","streamTool","tools"]]
const api = await import("pml");
export default [api.callTool === callTool, Object.keys(api).sort()];
