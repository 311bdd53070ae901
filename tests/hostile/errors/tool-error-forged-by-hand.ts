// kind: tool
throw new (ToolError as new (tool: unknown, failure: unknown) => Error)({}, { message: Symbol.iterator.description, kind: {} });
