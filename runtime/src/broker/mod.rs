//! The broker: keeps worker processes and answers the requests of their scripts.

mod budget;
mod call_log;
mod conclusion;
mod deadline;
mod deferred_channel;
mod fair_scheduler;
mod pending;
mod pool;
mod prefork;
#[cfg(feature = "worker")]
mod prefork_fork;
mod process;
mod reaper;
mod resource_monitor;
mod run_loop;
mod template;
mod worker_link;

pub use fair_scheduler::FairShareKey;
pub use pool::{Pool, PoolOptions};
pub use prefork::PreforkedWorker;
pub use run_loop::{Event, OnEvent, RunOptions, Script};
