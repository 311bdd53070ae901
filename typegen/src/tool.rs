//! What the generator is told about a tool.

use serde_json::Value;

/// A tool, from wherever it is known.
#[derive(Debug, Clone, Copy)]
pub struct ToolTypes<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's name on its server.
    pub name: &'a str,
    /// What the server says about it; may be empty.
    pub description: &'a str,
    /// A JSON Schema of its arguments.
    pub input: &'a Value,
    /// A JSON Schema of its result, where the server gives one.
    pub output: Option<&'a Value>,
    /// A JSON Schema of the results seen so far, as [`Shape::to_schema`](crate::Shape::to_schema)
    /// makes it. Used where there is no `output`.
    pub observed: Option<&'a Value>,
}
