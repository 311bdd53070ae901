//! The tools of the servers with their schemas, and changes of them.

mod arguments;
mod linear_patterns;
mod pins;
mod schema_graph;
mod slow_checks;
mod tool;
mod tool_set;
mod validation_cost;

pub(crate) use pins::Pins;
pub(crate) use slow_checks::SlowChecks;
pub use tool::{RefusedTool, Tool};
pub(crate) use tool_set::{ToolChange, ToolChangeKind, ToolSet};
