// kind: ok
callTool("demo:sleep", {});
export default "done";
