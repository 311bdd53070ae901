// kind: ok
// result: {"tools":{},"args":[]}
export default { tools, args, callTool, searchTools, ToolError };
