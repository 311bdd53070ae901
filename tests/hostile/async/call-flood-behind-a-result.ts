// kind: ok|calls
const again = (): Promise<unknown> => callTool("demo:echo", {}).then(again);
again();
export default "done";
