//! TypeScript types for MCP tools, generated from the JSON Schemas of their servers.
//!
//! [`signature`] returns one line for a model, [`declarations`] a whole `.d.ts` file for an editor and
//! for `tsc`. Both read a schema the same way and accept whatever a server sends: the result is always
//! valid TypeScript, and its size is bounded.
//!
//! ```
//! let input = serde_json::json!({ "properties": { "path": { "type": "string" } }, "required": ["path"] });
//! let tool = pml_typegen::ToolSchemas {
//!     server: "fs", name: "read", description: "Reads a file.",
//!     input: &input, output: None, observed: None,
//! };
//! assert_eq!(
//!     pml_typegen::signature(&tool),
//!     "tools.fs.read({ path: string }): Promise<unknown>  // Reads a file",
//! );
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod declarations;
mod print;
mod read;
mod shape;
mod signature;
mod tool_schemas;
mod type_graph;

pub use declarations::declarations;
pub use read::resolve;
pub use shape::Shape;
pub use signature::{one_line, signature};
pub use tool_schemas::ToolSchemas;
