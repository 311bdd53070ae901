//! A worker: one process, one isolate, one script.
//!
//! Order matters here. The walls that bind a single thread go up first; V8 is made ready while
//! the process still has one thread, because from here it may be copied, once for every script;
//! then V8's threads begin; the system-call filter, which binds them all, goes up when V8 has
//! everything it needs; only then does the worker say that it is ready.

mod buffers;
mod command;
mod connection;
mod control;
mod coverage;
mod evaluate;
mod execute;
mod fault;
mod isolate;
mod loader;
mod os;
#[cfg(debug_assertions)]
mod probe;
mod stack;
mod template;
mod walls;

pub(crate) use command::become_worker;
pub use command::run_if_requested;
#[cfg(test)]
pub(crate) use control::process_cpu_time;
