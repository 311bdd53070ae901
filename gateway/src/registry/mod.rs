//! What the servers offer: tools with their schemas, and what changed about them.

mod arguments;
mod tool;
mod tool_set;

pub use tool::Tool;
pub(crate) use tool_set::ToolSet;
pub use tool_set::{ToolChange, ToolNews};
