//! The MCP server for AI clients: a few tools in front of all tools of the gateway.
//!
//! A client reads replies (`tool_reply.rs`) and notifications (`notifications.rs`), and both consist
//! of [`pml_scrub::Scrubbed`] values: nothing else can be sent.
//!
//! ```ignore
//! use pml_server::{ServeError, ServerOptions, ServerState, serve_stdio};
//!
//! async fn serve(options: ServerOptions) -> Result<(), ServeError> {
//!     serve_stdio(ServerState::open(options)).await
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ask_kinds;
mod catch_panics;
mod client_identity;
mod client_session;
mod durable_runs;
mod elicitation;
mod error;
mod example_script;
mod handler;
pub mod log;
mod log_context;
mod notice_pace;
mod notifications;
mod observed_state;
mod operation;
mod pending_approvals;
mod plan_hooks;
mod plan_run;
mod resume;
mod session_replies;
mod state;
mod stateless_clients;
mod tasks;
mod tool_descriptions;
mod tool_observer;
mod tool_reply;
mod tool_task;
mod tools;
mod transport;
mod waiting_runs;

pub use durable_runs::DurableOptions;
pub use error::ServeError;
pub use state::{ServerOptions, ServerState, WorkflowOptions};
pub use tool_observer::ToolObserver;
pub use transport::{
    Authentication, BearerTokens, HttpOptions, ListenAddress, serve_http, serve_status, serve_stdio,
};
