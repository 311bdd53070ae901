//! The configuration file: `mcpServers` as MCP clients write it, plus `pml`.

mod document;
mod error;
mod expand;
mod load;
mod server;

pub use error::ConfigError;
pub use load::Config;
pub use server::{Command, Endpoint, Protocol, Remote, ServerConfig, ToolFilter, is_sse_address};
