// kind: denied
await import("data:text/javascript," + encodeURIComponent("export default 1"));
