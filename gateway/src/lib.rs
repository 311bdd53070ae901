//! One pool of MCP clients behind `callTool`: configuration, transports, registry and policy.

mod call;
pub mod config;
mod doctor;
mod gateway;
mod health;
pub mod oauth;
mod offers;
pub mod policy;
mod registry;
mod server;
mod tool_id;
mod transport;

pub use call::{CallError, CallErrorKind, CallValue, Progress, RunLimits, RunScope};
pub use config::Config;
pub use doctor::{ServerReport, ServerState};
pub use gateway::{Gateway, GatewayError, Listing};
pub use registry::Tool;
pub use tool_id::{MalformedToolId, ToolId};
pub use transport::{MAX_MESSAGE_BYTES, StartError};
