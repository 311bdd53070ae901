// kind: calls
for (;;) await describeTool("demo:echo");
