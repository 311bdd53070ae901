// kind: ok
// result: 0
let worked = 0;
for (const id of ["", ":", "demo", "demo:", ":echo", "demo:echo:x", "demo:echo\n", "DEMO:ECHO", "../demo:echo", "demo:\u0000", "demo:ech\u043e"]) {
  const answer = await callTool(id, {}).catch(() => ({ success: false }));
  if (answer.success) worked++;
}
for (const id of [null, 1, {}, [], ["demo:echo"], { toString: () => "demo:echo" }, Symbol("x")]) {
  const answer = await callTool(id as never, {}).catch(() => ({ success: false }));
  if (answer.success) worked++;
}
export default worked;
