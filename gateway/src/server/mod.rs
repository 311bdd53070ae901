//! The life of one server: started at first use, watched, restarted with care, and stopped.

mod backoff;
mod changes;
mod connection;
mod handler;
mod lifecycle;
mod record;
mod tools;

pub(crate) use connection::Connection;
pub(crate) use handler::Following;
pub(crate) use lifecycle::{Server, ServerContext, Unavailable};
