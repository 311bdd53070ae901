//! The lifecycle of one server: start at first use, health, restart with backoff, stop.

mod backoff;
mod changes;
mod connection;
mod credentials;
mod handler;
mod lifecycle;
mod replacement;
mod start_history;
mod tools;

pub(crate) use connection::Connection;
pub(crate) use credentials::ServerCredentials;
pub(crate) use handler::ProgressSubscription;
pub(crate) use lifecycle::{Server, ServerContext, Unavailable};
