//! What a run of a plan leaves: one state per task, times, the critical path.

use pml_protocol::Failure;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It has an output.
    Done,
    /// It has a failure.
    Failed,
    /// It did not start: a dependency failed, `when` is false, or there was no time.
    Skipped,
    /// It was stopped: another task of its race won, or the run ended.
    Cancelled,
    /// A call with an effect was sent and its answer is not known: it may have happened.
    Unknown,
}

impl TaskState {
    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Every task that had to has an output.
    Done,
    /// Some tasks failed, others are done.
    Partial,
    /// No task is done.
    Failed,
    /// The run was stopped from outside.
    Stopped,
}

/// One task of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReport {
    /// The id.
    pub id: String,
    /// How it ended.
    pub state: TaskState,
    /// When it started, in milliseconds since the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<f64>,
    /// How long it took.
    #[serde(default)]
    pub ms: f64,
    /// How often something was tried: calls and runs of code, retries and fallbacks included.
    #[serde(default)]
    pub attempts: u32,
    /// The items of `for_each`: done, of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<(usize, usize)>,
    /// Whether a fallback made the output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
    /// Whether the plan calls it safe to fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Why it is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// The times of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// From start to end.
    pub wall_ms: f64,
    /// The sum of all tasks and items: what one after another would take.
    pub sequential_ms: f64,
    /// The longest chain of dependent tasks.
    pub critical_path_ms: f64,
    /// The tasks of that chain.
    pub critical_path: Vec<String>,
    /// `sequential_ms / wall_ms`
    pub speedup: f64,
}

/// The result of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowReport {
    /// Whether every task that had to is done.
    pub ok: bool,
    /// How the run ended.
    pub state: RunState,
    /// The plan's `output`; else the output of the last task, or of the last tasks by id.
    pub output: Value,
    /// Why the run was stopped from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Every task, in the order of the plan.
    pub tasks: Vec<TaskReport>,
    /// The times.
    pub times: Times,
}

impl WorkflowReport {
    /// How many tasks ended in a state.
    pub fn count(&self, state: TaskState) -> usize {
        self.tasks.iter().filter(|task| task.state == state).count()
    }
}
