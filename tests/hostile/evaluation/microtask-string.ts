// kind: runtime
queueMicrotask("1" as never);
