//! One step: attempts with a time limit and pauses between them.

use std::time::Duration;

use pml_protocol::{EffectClass, Failure, FailureKind};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::node::StepId;
use crate::plan::{Action, CodeLimits, Task};
use crate::runner::{CodeTask, TaskError, TaskRunner, ToolTask};

/// The longest pause between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// How much longer than its limit code may take until its run is dropped: a sandbox ends by itself and
/// says what it did.
const CODE_GRACE: Duration = Duration::from_secs(5);

/// How a step ended.
pub struct StepEnd {
    pub id: StepId,
    pub result: Result<Value, Failure>,
    /// The call was sent and its outcome is not known.
    pub is_unknown: bool,
    pub attempts: u32,
    pub time: Duration,
}

/// What a step needs.
pub struct Step<'a> {
    pub id: StepId,
    pub task: &'a Task,
    /// The id that reports have: an inline fallback has that of its task.
    pub name: &'a str,
    /// The arguments of a tool, or the globals of code.
    pub values: Value,
    /// The tasks that it may depend on.
    pub after: Vec<&'a str>,
}

/// Tries a step until it succeeds, must not be repeated, or has no attempts left.
pub async fn execute(runner: &dyn TaskRunner, mut step: Step<'_>) -> StepEnd {
    let started = Instant::now();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let is_last = attempts >= step.task.retry.attempts;
        let values = match is_last {
            true => std::mem::take(&mut step.values),
            false => step.values.clone(),
        };
        let error = match attempt(runner, &step, values, attempts).await {
            Ok(value) => {
                return StepEnd {
                    id: step.id,
                    result: Ok(value),
                    is_unknown: false,
                    attempts,
                    time: started.elapsed(),
                };
            }
            Err(error) => error,
        };
        let verdict = judge(runner, step.task, &error).await;
        if is_last || !verdict.may_repeat {
            return StepEnd {
                id: step.id,
                result: Err(error.failure),
                is_unknown: verdict.is_unknown,
                attempts,
                time: started.elapsed(),
            };
        }
        sleep(pause(step.task.retry.backoff, attempts, &error.failure)).await;
    }
}

/// The pause doubles; a server that says how long to wait is believed.
fn pause(backoff: Duration, attempts: u32, failure: &Failure) -> Duration {
    let doubled = backoff.saturating_mul(1 << (attempts - 1).min(16));
    let asked = failure
        .retry_after_ms
        .map_or(Duration::ZERO, Duration::from_millis);
    doubled.max(asked).min(MAX_BACKOFF)
}

async fn attempt(
    runner: &dyn TaskRunner,
    step: &Step<'_>,
    values: Value,
    attempt: u32,
) -> Result<Value, TaskError> {
    let limit = step.task.timeout;
    match &step.task.action {
        Action::Tool { tool, .. } => {
            let call = runner.call(ToolTask {
                task: step.name,
                tool,
                item: step.id.item,
                args: values,
                after: &step.after,
                timeout: limit,
                is_streamed: step.task.stream,
            });
            call.await
        }
        Action::Code { source, .. } => {
            let limits = code_limits(step.task.limits, limit);
            let code = runner.code(CodeTask {
                task: step.name,
                item: step.id.item,
                attempt,
                source,
                globals: values,
                after: &step.after,
                limits: &limits,
            });
            match limit {
                Some(limit) => timeout(limit + CODE_GRACE, code).await.unwrap_or_else(|_| {
                    Err(TaskError {
                        failure: timed_out(limit),
                        had_effects: true,
                        is_unanswered: false,
                    })
                }),
                None => code.await,
            }
        }
    }
}

fn code_limits(limits: CodeLimits, timeout: Option<Duration>) -> CodeLimits {
    let millis = timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    CodeLimits {
        timeout_ms: match (limits.timeout_ms, millis) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        },
        ..limits
    }
}

fn timed_out(limit: Duration) -> Failure {
    let message = format!("no answer within the task's timeout of {limit:?}");
    Failure::new(FailureKind::Timeout, message)
}

struct Verdict {
    may_repeat: bool,
    is_unknown: bool,
}

/// Whether a failed attempt may be repeated, and whether it may have had its effect.
async fn judge(runner: &dyn TaskRunner, task: &Task, error: &TaskError) -> Verdict {
    let kind = error.failure.kind;
    let is_permanent = matches!(
        kind,
        FailureKind::Arguments
            | FailureKind::Denied
            | FailureKind::Output
            | FailureKind::Unknown
            | FailureKind::Unmocked
            | FailureKind::Unrecorded
            | FailureKind::Version
    );
    let Action::Tool { tool, .. } = &task.action else {
        return Verdict {
            may_repeat: !is_permanent && !error.had_effects,
            is_unknown: false,
        };
    };
    let class = runner.effect(tool).await;
    // Nothing was sent, or nothing of it arrived.
    let is_unsent = !error.is_unanswered
        && matches!(
            kind,
            FailureKind::Unavailable | FailureKind::Calls | FailureKind::Timeout
        );
    let is_repeatable = matches!(class, EffectClass::Read | EffectClass::Idempotent);
    Verdict {
        may_repeat: !is_permanent && (is_repeatable || is_unsent),
        is_unknown: error.is_unanswered && class.needs_intent(),
    }
}
