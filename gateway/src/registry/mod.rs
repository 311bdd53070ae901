//! The tools of the servers with their schemas, and changes of them.

mod arguments;
mod tool;
mod tool_set;

pub use tool::Tool;
pub(crate) use tool_set::ToolSet;
