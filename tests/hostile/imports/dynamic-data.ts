// kind: denied
await import("data:text/javascript,export default 1");
