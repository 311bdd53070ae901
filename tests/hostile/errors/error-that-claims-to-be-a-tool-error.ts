// kind: runtime
throw Object.assign(new Error("forged"), { name: "ToolError", kind: "internal", retryable: true });
