//! The worker process: one process, one isolate, one script.
//!
//! The order of its start matters. The walls that apply to a single thread come first. V8 starts while
//! the process has one thread, because a template is forked in that state, once for every script. Then
//! V8's threads start. The system-call filter, which applies to all threads, is installed when V8 has
//! all that it needs. Only then does the worker report that it is ready.

mod answers;
mod buffers;
mod command;
mod connection;
mod control;
mod coverage;
mod evaluate;
mod execute;
mod heap_guard;
mod isolate;
mod loader;
mod os;
#[cfg(debug_assertions)]
mod probe;
mod script_error;
mod stack_trace;
mod template;
mod walls;

pub(crate) use command::become_worker;
pub use command::run_if_requested;
