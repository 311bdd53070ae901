// kind: runtime
throw new DOMException("x".repeat(1e5), "ToolError");
