//! A worker: one process, one isolate, one script.
//!
//! Order matters here. The walls that bind a single thread go up before V8 starts its threads;
//! the system-call filter, which binds them all, goes up when V8 has everything it needs; only
//! then does the worker say that it is ready.

mod buffers;
mod command;
mod connection;
mod control;
mod coverage;
mod execute;
mod fault;
mod isolate;
mod loader;
mod probe;
mod stack;
mod transpile;
mod walls;

pub use command::{WorkerOptions, run_if_requested};
pub use transpile::{Module, Rejection, RejectionKind, transpile};
pub(crate) use transpile::{read, source_of};
