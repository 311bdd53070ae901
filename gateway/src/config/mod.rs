//! The configuration file: `mcpServers` as in other MCP clients, plus `pml`.

mod document;
mod error;
mod expand;
mod load;
mod server;

pub use error::ConfigError;
pub use load::Config;
pub use server::{Command, Endpoint, Protocol, Remote, ServerConfig, ToolFilter, is_sse_address};
