//! Runs scripts in V8 isolates, each in a walled process of its own.
//!
//! The crate has two halves: [`broker`] keeps worker processes and answers their requests;
//! `worker` is such a process. They share the messages of [`pml_protocol`], the socket between them,
//! and the command line that starts a worker. A program that uses the broker calls
//! `worker::run_if_requested` first thing in `main`.
//!
//! The worker, and V8 with it, is behind the feature `worker`: the program that becomes workers has
//! it, and libraries that only run scripts do without.
//!
//! # Process-wide effects
//!
//! With the feature `worker`, linking this crate replaces libc's `pthread_create` with a function
//! that passes calls on, except in a worker that is starting. This and the page tricks of the
//! template process are in `worker/os/`.

mod async_fd;
pub mod broker;
pub mod fd_passing;
mod spin_wait;
mod timer_fd;
#[cfg(feature = "worker")]
pub mod worker;
mod worker_options;

pub use broker::{
    Event, FairShareKey, OnEvent, Pool, PoolOptions, PreforkedWorker, RunOptions, Script,
};
pub use worker_options::WorkerOptions;
