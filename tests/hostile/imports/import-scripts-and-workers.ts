// kind: ok
// result: []
export default ["importScripts", "Worker", "SharedWorker", "ServiceWorker", "ShadowRealm", "Blob", "MessageChannel", "BroadcastChannel", "fetch", "WebSocket", "XMLHttpRequest", "EventSource", "require", "process", "Buffer", "global", "window", "self", "navigator", "location", "caches", "localStorage", "prompt", "alert", "Deno", "Bun", "gc", "print", "read", "quit", "d8", "WebAssembly", "SharedArrayBuffer", "eval", "reportError"].filter((name) => name in globalThis);
