//! The lifecycle of one server, whatever its source: start at first use, health, restart with backoff, stop.

mod backoff;
mod changes;
mod connection;
mod credentials;
mod handler;
mod lifecycle;
mod replacement;
mod start_history;
mod tools;

pub(crate) use changes::ToolsChanged;
pub(crate) use connection::Connection;
pub(crate) use credentials::ServerCredentials;
pub(crate) use handler::{Handler, ProgressSubscription};
pub(crate) use lifecycle::{Server, ServerContext, Unavailable};
pub(crate) use tools::list as list_tools;
