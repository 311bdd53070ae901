//! The gateway to MCP servers: configuration, transports, tool registry, policy and logins.
//!
//! [`Config`] names the servers, [`Gateway`] starts them at first use and calls their tools.

#![warn(missing_docs)]

mod call;
pub mod config;
mod doctor;
mod gateway;
mod health;
pub mod oauth;
pub mod policy;
mod printable;
mod registry;
mod resources;
mod server;
mod tool_id;
mod transport;

pub use call::{CallError, CallErrorKind, CallValue, Progress, RunLimits, RunScope};
pub use config::Config;
pub use doctor::{ServerReport, ServerStatus};
pub use gateway::{Gateway, GatewayError, Listing};
pub use printable::{is_unsafe_to_show, printable};
pub use registry::Tool;
pub use tool_id::{MalformedToolId, ToolId};
pub use transport::{MAX_MESSAGE_BYTES, StartError};
