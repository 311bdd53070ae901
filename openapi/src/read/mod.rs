//! Reads a service from its documents.

mod body;
mod description;
mod extension;
mod names;
mod operation;
mod parameter;
mod response;
mod schema;
mod service;

pub use operation::placeholders;
pub use service::{ReadError, ReadOptions, Service, SkippedOperation};
