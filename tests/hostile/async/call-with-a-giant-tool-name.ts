// kind: ok
// result: false
const answer = await callTool("demo:" + "x".repeat(20_000_000), {});
export default answer.success;
