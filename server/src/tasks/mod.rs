//! MCP tasks: `execute_code` as a task that its client polls, in the form of 2025-11-25 (`legacy.rs`, which
//! rmcp does not have) and of the extension `io.modelcontextprotocol/tasks` (`extension.rs`).
//!
//! A task is a durable run: its id is the id of the run, its status and its result are in the store.

mod approval_form;
mod extension;
mod legacy;
pub mod legacy_wire;
mod running_tasks;
mod stored_tasks;
mod task_run;
mod task_view;
mod timestamp;

pub use extension::DIRECT_REPLY_TIME;
pub use running_tasks::{RunningTasks, TrackedTask};
pub use stored_tasks::StoredTasks;
pub use task_run::{TaskRun, TaskStart};
pub use task_view::TaskState;
