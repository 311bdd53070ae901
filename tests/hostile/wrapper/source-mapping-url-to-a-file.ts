// kind: runtime
throw new Error("mapped");
//# sourceMappingURL=file:///etc/passwd
//@ sourceMappingURL=/etc/passwd
