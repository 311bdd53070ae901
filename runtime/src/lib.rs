//! Runs scripts in V8 isolates, each in its own sandboxed process.
//!
//! The crate has two halves: [`broker`] starts worker processes and answers their requests;
//! `worker` is the code of such a process. They share the messages of [`pml_protocol`], the socket
//! between them, and the command line that starts a worker. A program that uses the broker calls
//! `worker::run_if_requested` first thing in `main`.
//!
//! The feature `worker` adds that half, and V8 with it. The program whose binary is also the worker
//! enables it; a library that only runs scripts does not need it.
//!
//! # Process-wide effects
//!
//! With the feature `worker`, linking this crate replaces libc's `pthread_create` with a function
//! that passes calls on, except in a worker that is starting. This and the page tricks of the
//! template process are in `worker/os/`.
//!
//! `hide_environment` makes the broker not dumpable and moves its environment to the heap.

#![warn(missing_docs)]

mod async_fd;
pub mod broker;
pub mod fd_passing;
mod resource_usage;
mod spin_wait;
mod timer_fd;
#[cfg(feature = "worker")]
pub mod worker;
mod worker_options;

#[cfg(feature = "worker")]
pub use broker::hide_environment;
pub use broker::{
    ChildRun, Event, LazyPool, OnEvent, Pool, PoolOptions, PoolStatus, PreforkedWorker, RunOptions,
    Script,
};
pub use worker_options::WorkerOptions;
