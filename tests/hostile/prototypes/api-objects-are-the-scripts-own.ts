// kind: ok
// result: ["own",0]
(globalThis as { callTool: unknown }).callTool = () => "own";
args.push("leftover");
(ToolError.prototype as { leftover?: number }).leftover = 1;
args.length = 0;
export default [(callTool as () => string)(), args.length];
