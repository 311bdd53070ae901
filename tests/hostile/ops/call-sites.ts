// kind: ok
// result: []
const holder: { stack?: unknown } = {};
Error.captureStackTrace(holder, callTool);
const sites: unknown[] = [];
Error.prepareStackTrace = (_error, callSites) => sites.push(...callSites);
new Error("x").stack;
export default sites.concat(typeof holder.stack === "string" ? [] : [typeof holder.stack]);
