// kind: runtime
const api = await import("pml");
(api as { callTool: unknown }).callTool = () => "stolen";
