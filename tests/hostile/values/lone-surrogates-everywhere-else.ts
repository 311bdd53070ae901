// kind: runtime
console.log("\ud800", { "\udfff": "\udc00" });
await callTool("demo:echo", { "\ud800": "\udc00" });
await callTool("demo:\ud800").catch(() => {});
throw new Error("\ud800 and \udc00");
