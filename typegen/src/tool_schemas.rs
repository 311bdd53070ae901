//! The input of the generators.

use serde_json::Value;

/// A tool with its JSON Schemas.
#[derive(Debug, Clone, Copy)]
pub struct ToolSchemas<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's name on its server.
    pub name: &'a str,
    /// The tool's description; may be empty.
    pub description: &'a str,
    /// The JSON Schema of the arguments.
    pub input: &'a Value,
    /// The JSON Schema of the result, if the server declares one.
    pub output: Option<&'a Value>,
    /// The JSON Schema of the results seen so far, from [`Shape::to_schema`](crate::Shape::to_schema).
    /// Used only without `output`.
    pub observed: Option<&'a Value>,
}
