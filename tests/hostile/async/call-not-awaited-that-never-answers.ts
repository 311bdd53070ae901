// kind: timeout
callTool("demo:sleep", {});
export default "done";
