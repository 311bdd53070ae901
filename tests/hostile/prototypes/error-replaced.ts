// kind: runtime
delete (globalThis as { Error?: unknown }).Error;
(globalThis as { Error: unknown }).Error = function () {};
null!.toString();
