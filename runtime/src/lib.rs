//! Runs scripts in V8 isolates, each in a walled process of its own.
//!
//! The crate has two halves that share [`protocol`] and nothing else: [`broker`], which keeps
//! worker processes and answers their requests, and [`worker`], which is such a process. A
//! program that uses the broker calls [`worker::run_if_requested`] first thing in `main`.

mod awake;
mod bell;
pub mod broker;
pub mod frame;
pub mod handover;
pub mod limits;
pub mod outcome;
pub mod protocol;
pub mod syntax;
mod wake;
pub mod worker;
mod world;

pub use broker::{
    Ahead, Event, HostFuture, Party, Pool, PoolOptions, RunOptions, Script, ToolHit, ToolHost,
    WorkerOptions, memory,
};
pub use limits::{Limits, Wishes};
pub use outcome::{CallRecord, ErrorKind, LogLine, Outcome, RunError, Stats};
pub use pml_ops::{Answer, Failure, Level, Offer};
pub use protocol::TestSpec;
pub use world::{Sleep, World};
