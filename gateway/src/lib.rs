//! The gateway to sources of tools, such as MCP servers: configuration, transports, tool registry, policy and logins.
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
mod caller;
pub mod config;
mod decisions;
mod doctor;
pub mod effects;
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod guarded;
mod health;
pub mod json_size;
mod labels;
mod listing_budget;
pub mod oauth;
pub mod off_loop;
mod operate;
pub mod policy;
mod printable;
mod registry;
mod resources;
mod secrets;
mod server;
mod server_snapshot;
mod session_histories;
mod source;
mod tool_id;
mod transport;

pub use call::{
    BeforeSend, CallArguments, CallError, CallErrorKind, CallOptions, CallValue, ChildPipeline,
    ChildPipelines, FailedAttempt, Progress, ProgressListener, RunLabels, RunLimits, RunScope,
    ToolCall,
};
pub use config::Config;
pub use doctor::{ServerReport, ServerStatus};
pub use effects::{Effect, EffectSource};
pub use gateway::{Gateway, GatewayError, GatewayParts, Listing};
pub use printable::{is_unsafe_to_show, printable};
pub use registry::{RefusedTool, Tool};
pub use secrets::Secrets;
pub use server_snapshot::ServerSnapshot;
pub use source::{ChangedFunctions, FunctionSources, SourceInfo, ToolSource};
pub use tool_id::{MalformedToolId, ToolId};
pub use transport::{MAX_MESSAGE_BYTES, StartError, install_tls};
