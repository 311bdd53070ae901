// kind: calls
for (;;) await callTool("demo:echo", {});
