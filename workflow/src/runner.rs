//! What the scheduler needs of the world: one call of a tool, one run of code, one question.

use std::pin::Pin;
use std::time::Duration;

use pml_protocol::{CallProgress, EffectClass, Failure};
use serde_json::Value;

use crate::plan::CodeLimits;
use crate::report::{TaskReport, TaskState};

/// A future of a [`TaskRunner`].
pub type TaskFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs the steps of tasks. Dropping a future cancels its step.
pub trait TaskRunner: Send + Sync {
    /// Calls a tool through the request pipeline.
    fn call<'a>(&'a self, task: ToolTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>>;

    /// Runs code in a sandbox.
    fn code<'a>(&'a self, task: CodeTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>>;

    /// What a call of the tool does, which decides whether it is repeated.
    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass>;

    /// Asks a person whether a task may start.
    fn approve<'a>(&'a self, ask: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>>;

    /// Notes what happens, as it happens.
    fn event(&self, event: TaskEvent<'_>) {
        let _ = event;
    }
}

/// One call of a tool.
#[derive(Debug)]
pub struct ToolTask<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// `server:tool`
    pub tool: &'a str,
    /// The index of its item, in a task with `for_each`.
    pub item: Option<usize>,
    /// An object of named arguments.
    pub args: Value,
    /// The tasks that it may depend on; empty for all but the first step of a task.
    pub after: &'a [&'a str],
    /// The time of the call, from its approval to its answer. After that, the runner fails it.
    pub timeout: Option<Duration>,
    /// Whether its progress is wanted.
    pub is_streamed: bool,
}

/// One run of code.
#[derive(Debug)]
pub struct CodeTask<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// The index of its item, in a task with `for_each`.
    pub item: Option<usize>,
    /// From 1.
    pub attempt: u32,
    /// The code as the plan has it, with `$OUTPUT[id]` as JavaScript.
    pub source: &'a str,
    /// What the code sees as globals: `$INPUT`, `$OUTPUT`, `$ERROR`, `$ITEM`, `$INDEX`, `context`.
    pub globals: Value,
    /// The tasks that it may depend on; empty for all but the first step of a task.
    pub after: &'a [&'a str],
    /// Limits that the task asks for: `timeout`, `memory`, `calls`.
    pub limits: &'a CodeLimits,
}

/// A task that a person is asked about.
#[derive(Debug)]
pub struct ApprovalAsk<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// The words of the plan.
    pub message: Option<&'a str>,
    /// Its tool; `None` for code.
    pub tool: Option<&'a str>,
}

/// Why a step has no value.
#[derive(Debug, Clone)]
pub struct TaskError {
    /// What the result says.
    pub failure: Failure,
    /// Whether code has called a tool that is not `read`: it is not run again.
    pub had_effects: bool,
    /// Whether a call was sent and not answered: it may have had its effect.
    pub is_unanswered: bool,
}

impl From<Failure> for TaskError {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            had_effects: false,
            is_unanswered: false,
        }
    }
}

/// What happens in a run.
#[derive(Debug)]
pub enum TaskEvent<'a> {
    /// A task started.
    Started {
        /// Its id.
        task: &'a str,
    },
    /// The server reports progress of a task with `stream`.
    Progress {
        /// Its id.
        task: &'a str,
        /// The index of the item, in a task with `for_each`.
        item: Option<usize>,
        /// What it reports.
        progress: &'a CallProgress,
    },
    /// An item of a task with `stream` ended: a part of its output.
    Part {
        /// Its id.
        task: &'a str,
        /// The index of the item.
        item: usize,
        /// The output of the item.
        value: &'a Value,
        /// How many items have ended, and how many there are.
        items: (usize, usize),
    },
    /// A task ended, or never will start.
    Ended {
        /// Its id.
        task: &'a str,
        /// How.
        state: TaskState,
        /// Everything about it.
        report: &'a TaskReport,
        /// Its output, if it has one.
        output: Option<&'a Value>,
        /// How many tasks have ended, and how many there are.
        progress: (usize, usize),
    },
}
