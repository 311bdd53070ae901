//! A plan that a pipeline runs, from its start to an outcome.

use std::collections::HashMap;
use std::time::Duration;

use pml_protocol::{CallRecord, ErrorKind, LabelReport, Outcome, RunError, Stats};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::limits::PlanLimits;
use crate::pipeline_runner::PipelineRunner;
use crate::plan::Plan;
use crate::report::{TaskState, WorkflowReport};
use crate::run_time::run_time;
use crate::scheduler::{RunOptions, run};

/// How a plan ended.
pub struct EndedPlan {
    /// What its tasks did.
    pub report: WorkflowReport,
    /// Why it was stopped from outside.
    pub stopped: Option<RunError>,
    /// The calls that its tasks made.
    pub calls: Vec<CallRecord>,
    /// What its tasks had read.
    pub labels: Option<LabelReport>,
}

/// What a run of a plan needs besides its runner.
#[derive(Default)]
pub struct PlanStart {
    /// `$INPUT`
    pub input: Value,
    /// The bounds of lists and of concurrency.
    pub limits: PlanLimits,
    /// The time of a call of each tool, as far as it is known.
    pub known: HashMap<String, Duration>,
    /// The time limit of the plan.
    pub time: Option<Duration>,
}

/// Runs a plan until it ends, all its steps wait for a person, its time is over, or `interrupted`.
pub async fn run_to_end(
    plan: &Plan,
    runner: &PipelineRunner,
    start: PlanStart,
    interrupted: impl Future<Output = RunError> + Send,
) -> EndedPlan {
    let PlanStart {
        input,
        limits,
        known,
        time,
    } = start;
    let (sender, reason) = tokio::sync::oneshot::channel();
    let timed_out = async {
        match time {
            Some(time) => run_time(runner.clock(), time).await,
            None => std::future::pending().await,
        }
        let message = format!(
            "the plan ran for {} ms, which is its limit",
            time.unwrap_or_default().as_millis()
        );
        RunError::new(ErrorKind::Timeout, message)
    };
    let stop = async move {
        let error = tokio::select! {
            error = runner.suspended() => error,
            error = timed_out => error,
            error = interrupted => error,
        };
        let message = error.message.clone();
        let _ = sender.send(error);
        message
    };
    let options = RunOptions {
        input,
        limits,
        known,
        stop: Box::pin(stop),
    };
    let report = run(plan, runner, options).await;
    EndedPlan {
        report,
        stopped: { reason }.try_recv().ok(),
        calls: runner.take_calls(),
        labels: runner.labels(),
    }
}

impl EndedPlan {
    /// The outcome of the run: the report is its result.
    pub fn outcome(&self) -> Outcome {
        let report = &self.report;
        let failed = report.count(TaskState::Failed) + report.count(TaskState::Unknown);
        let error = self.stopped.clone().or_else(|| {
            let message = format!("{failed} of {} tasks failed", report.tasks.len());
            (!report.ok).then(|| RunError::new(ErrorKind::Runtime, message))
        });
        Outcome {
            ok: error.is_none(),
            // A report has only names for keys.
            result: to_raw_value(report).ok(),
            calls: self.calls.clone(),
            labels: self.labels.clone(),
            stats: Stats {
                wall_ms: report.times.wall_ms,
                ..Stats::default()
            },
            error,
            ..Outcome::default()
        }
    }
}
