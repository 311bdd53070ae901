// kind: runtime|tool
throw new DOMException("x".repeat(1e5), "ToolError");
