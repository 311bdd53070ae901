//! Workflows: a plan is a graph of tool calls and code. This crate reads plans, validates them and
//! runs them as fast as their dependencies allow.
//!
//! ```
//! use pml_workflow::{Plan, PlanLimits};
//!
//! let text = r#"{ "tasks": [
//!   { "id": "list", "tool": "fs:list", "args": { "path": "$INPUT.dir" } },
//!   { "id": "count", "code": "return $OUTPUT[list].length" } ] }"#;
//! let plan = Plan::parse(text, &PlanLimits::default())?;
//! assert_eq!(plan.graph().layers(), 2);
//! # Ok::<(), pml_workflow::PlanError>(())
//! ```
//!
//! The scheduler ([`run`]) reaches tools and sandboxes through [`TaskRunner`] alone. It respects every
//! dependency, has no barrier between layers, and never starts a task twice except to retry it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod code;
mod error;
pub mod estimate;
mod from_recording;
mod graph;
mod kept_outputs;
mod limits;
mod outcome;
mod pipeline_runner;
mod plan;
mod reference;
mod report;
mod run_time;
mod runner;
mod scheduler;
mod schema_fit;
mod script_plans;
pub mod show;
mod validate;

pub use error::{PlanError, Problem};
pub use from_recording::{RecordedCall, plan_of_calls};
pub use graph::{Edge, Graph, Need};
pub use kept_outputs::{Find, Keep, KeptOutputs};
pub use limits::PlanLimits;
pub use outcome::{EndedPlan, PlanStart, run_to_end};
pub use pipeline_runner::{PipelineRunner, RunnerHooks, RunnerParts};
pub use plan::{
    Action, Approve, CodeLimits, Fallback, OnError, Plan, Race, ReportOrder, Retry, SCHEMA, Task,
    TaskKind,
};
pub use reference::{Condition, Reference, Root, Template};
pub use report::{RunState, TaskReport, TaskState, Times, WorkflowReport};
pub use runner::{ApprovalAsk, CodeTask, TaskError, TaskEvent, TaskFuture, TaskRunner, ToolTask};
pub use scheduler::{RunOptions, run};
pub use script_plans::{CodeHost, ScriptPlanParts, ScriptPlans};
pub use validate::{KnownTool, check_tools, missing_inputs};

#[cfg(test)]
mod tests;
