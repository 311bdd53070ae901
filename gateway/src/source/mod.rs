//! Sources of tools: what an entry of `mcpServers` can be.
//!
//! A source opens, lists its tools and calls them. Everything else is the same for every source and
//! lives around it: start and restart, the tool set, the lock file, policy, retries, the circuit
//! breaker, the cache and the checks of arguments.

mod functions;
mod mcp;
mod open_api;
mod open_source;
mod tool_source;

pub use functions::{ChangedFunctions, FunctionSources};
pub(crate) use mcp::McpSession;
pub(crate) use open_source::{OpenSource, open};
pub(crate) use tool_source::Opening;
pub use tool_source::{SourceInfo, ToolSource};
