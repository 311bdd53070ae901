//! The broker: keeps worker processes and answers what their scripts ask.

mod ahead;
mod calls;
mod drive;
mod gauge;
mod hint;
mod host;
mod link;
mod mailbox;
pub mod memory;
mod pool;
mod process;
mod reaper;
mod requests;
mod template;
mod turns;
mod verdict;

pub use ahead::Ahead;
pub use drive::{Event, RunOptions, Script};
pub use host::{HostFuture, ToolHit, ToolHost};
pub use pool::{Pool, PoolOptions};
pub use turns::Party;

pub use crate::worker::WorkerOptions;
