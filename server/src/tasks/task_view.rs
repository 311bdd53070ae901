//! A task as its client sees it.

use pml_scrub::Scrubbed;
use pml_store::{StoredApproval, StoredRun};
use rmcp::model::{Task, TaskStatus};
use serde_json::{Value, json};

use super::timestamp::iso8601;

/// How often a client should ask.
const POLL_INTERVAL_MS: u64 = 1000;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// The script runs.
    Working,
    /// It waits for an approval, or the outcome of a call is unknown.
    InputRequired,
    /// The script has ended with a result.
    Completed,
    /// The script has ended with an error, which is its result.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl TaskState {
    /// Whether the task is over.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The name in MCP 2025-11-25.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of the extension, in which a script with an error is a completed task.
    fn status(self) -> TaskStatus {
        match self {
            Self::Working => TaskStatus::Working,
            Self::InputRequired => TaskStatus::InputRequired,
            Self::Completed | Self::Failed => TaskStatus::Completed,
            Self::Cancelled => TaskStatus::Cancelled,
        }
    }
}

/// A task.
pub struct TaskView {
    /// The run, with its outcome if it has ended.
    pub run: StoredRun,
    pub state: TaskState,
    /// In one sentence: what it does, or what is needed and how.
    pub message: Scrubbed<String>,
    /// The approvals that it waits for.
    pub approvals: Vec<StoredApproval>,
}

impl TaskView {
    /// The form of MCP 2025-11-25.
    pub fn to_legacy(&self) -> Value {
        json!({
            "taskId": self.run.id,
            "status": self.state.as_str(),
            "statusMessage": *self.message,
            "createdAt": iso8601(self.run.created),
            "lastUpdatedAt": iso8601(self.run.updated),
            "ttl": self.run.task_ttl,
            "pollInterval": POLL_INTERVAL_MS,
        })
    }

    /// The form of the extension, without the payload of its status.
    pub fn to_task(&self) -> Task {
        let (created, updated) = (iso8601(self.run.created), iso8601(self.run.updated));
        let mut task = Task::new(self.run.id.as_str(), self.state.status(), created, updated)
            .with_status_message((*self.message).clone())
            .with_poll_interval_ms(POLL_INTERVAL_MS);
        task.ttl_ms = self.run.task_ttl;
        task
    }
}
