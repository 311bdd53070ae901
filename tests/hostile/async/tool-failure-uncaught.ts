// kind: tool
await tools.demo.fail({});
