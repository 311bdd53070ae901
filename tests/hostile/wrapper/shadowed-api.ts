// kind: ok
// result: "mine"
const callTool = () => "mine", tools = 1, searchTools = 2, console = 3, Error = 4;
export default callTool();
