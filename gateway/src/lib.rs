//! The gateway to MCP servers: configuration, transports, tool registry, policy and logins.
//!
//! [`Config`] names the servers, [`Gateway`] starts them at first use and calls their tools.
//!
//! # Process-wide effects
//!
//! The first server that is a child process makes this process a subreaper: orphans among its
//! descendants become its children (`transport/descendants.rs`). Children in another session than its
//! own are taken for servers or their orphans.

#![warn(missing_docs)]

mod call;
pub mod config;
mod doctor;
mod gateway;
mod health;
pub mod oauth;
pub mod policy;
mod registry;
mod resources;
mod secrets;
mod server;
mod tool_id;
mod transport;

pub use call::{CallError, CallErrorKind, CallValue, Progress, RunLimits, RunScope};
pub use config::Config;
pub use doctor::{ServerReport, ServerStatus};
pub use gateway::{Gateway, GatewayError, Listing};
pub use registry::Tool;
pub use secrets::Secrets;
pub use tool_id::{MalformedToolId, ToolId};
pub use transport::{MAX_MESSAGE_BYTES, StartError};
