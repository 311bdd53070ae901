// kind: ok
// result: 40
let refused = 0;
for (let i = 0; i < 40; i++) {
  const { success } = await callTool(`demo:${"x".repeat(500_000)}${i}`, {});
  if (!success) refused++;
}
export default refused;
