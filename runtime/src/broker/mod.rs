//! The broker: starts worker processes, answers the requests of their scripts, and ends them.
//!
//! A run gets a permit from the `fair_scheduler` and a worker from the `pool`; the `run_loop` drives
//! it over the `worker_link`. `starter` and `reaper` start and end processes, each on its own thread.

mod background_thread;
mod budget;
mod call_log;
mod child_run;
mod deadline;
mod deferred_channel;
#[cfg(feature = "worker")]
mod environment;
mod fair_scheduler;
mod lazy_pool;
mod outcome;
mod pending;
mod pool;
mod prefork;
#[cfg(feature = "worker")]
mod proc_stat;
mod process;
mod reaper;
mod resource_monitor;
mod run_loop;
mod spawn;
mod starter;
mod template;
mod worker_link;
mod worker_process;

pub use child_run::ChildRun;
#[cfg(feature = "worker")]
pub use environment::hide_environment;
pub use lazy_pool::LazyPool;
pub use pool::{Pool, PoolOptions, PoolStatus};
pub use prefork::PreforkedWorker;
pub use run_loop::{Event, OnEvent, RunOptions, Script};
