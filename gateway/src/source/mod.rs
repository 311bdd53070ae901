//! Sources of tools: what an entry of `mcpServers` can be.
//!
//! A source opens, lists its tools and calls them. Everything else is the same for every source and
//! lives around it: start and restart, the tool set, the lock file, policy, retries, the circuit
//! breaker, the cache and the checks of arguments.

mod mcp;
mod open_api;
mod tool_source;

pub(crate) use mcp::McpSession;
pub(crate) use tool_source::{Opening, ToolSource, open};
