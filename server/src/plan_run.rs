//! One run of a plan: for `execute_workflow`, and for a server that resumes it.

use std::sync::Arc;
use std::time::Duration;

use pml_hosts::OwnClock;
use pml_hosts::journal::RunJournal;
use pml_protocol::{ErrorKind, Limits, Outcome, RunContext, RunError, RunFlow, ToolHost};
use pml_workflow::{
    Find, KeptOutputs, PipelineRunner, Plan, PlanError, PlanStart, RunnerParts, ScriptPlanParts,
    missing_inputs, run_to_end,
};
use serde_json::Value;

use crate::plan_hooks::PlanHooks;
use crate::state::ServerState;

/// Calls of one plan: its tasks and items are bounded already.
pub const MAX_CALLS: u32 = 1_000_000;

/// A plan that is about to run.
pub struct PlanRun {
    pub state: ServerState,
    pub run: RunContext,
    pub host: Arc<dyn ToolHost>,
    pub journal: Option<Arc<RunJournal>>,
    pub limits: Limits,
    pub hooks: Arc<PlanHooks>,
}

impl PlanRun {
    /// Runs the plan. Every failure is part of the outcome.
    pub async fn outcome(self, plan: &Plan, input: Value) -> Outcome {
        let host = self.host.clone();
        let clock = self.journal.as_ref();
        let is_durable = clock.is_some();
        let runner = PipelineRunner::new(RunnerParts {
            host: self.host,
            code_host: Box::new(move || code_host(&host, is_durable)),
            pool: self.state.lazy_pool(),
            // What the client asks for is about the whole plan.
            limits: *self.state.limits(),
            kept: self
                .journal
                .as_ref()
                .map(|journal| kept_outputs(journal, self.run.flow())),
            context: self.run,
            clock: clock.map(|journal| (journal.clock(), journal.entropy())),
            hooks: self.hooks.clone(),
        });
        let ended = run_to_end(
            plan,
            &runner,
            PlanStart {
                input,
                limits: *self.state.plan_limits(),
                time: Some(Duration::from_millis(self.limits.wall_ms)),
                ..PlanStart::default()
            },
            std::future::pending::<RunError>(),
        );
        let mut outcome = ended.await.outcome();
        outcome.logs = self.hooks.logs.take();
        outcome
    }
}

/// The outputs of code that a resumed plan does not run again. `flow` is what the plan has read: code that looks for
/// them as checkpoints reads it.
fn kept_outputs(journal: &Arc<RunJournal>, flow: &RunFlow) -> KeptOutputs {
    let read = journal.clone();
    let (write, writer) = (journal.clone(), flow.clone());
    // Code that asks for nothing has read what the tasks before it have, and they run again or are answered from
    // the journal.
    let find: Find = Box::new(move |key| read.kept(key, &RunFlow::default()));
    let keep = move |key: &str, value| write.keep(key, value, writer.current());
    KeptOutputs::new(&find, Box::new(keep))
}

/// Code of a run with a journal sees the same time and randomness in every execution.
fn code_host(host: &Arc<dyn ToolHost>, is_durable: bool) -> Arc<dyn ToolHost> {
    match is_durable {
        true => Arc::new(OwnClock::new(host.clone())),
        false => host.clone(),
    }
}

/// What the plans of a script need.
pub fn script_plan_parts(
    state: &ServerState,
    limits: &Limits,
    journal: Option<&Arc<RunJournal>>,
    hooks: Arc<PlanHooks>,
) -> ScriptPlanParts {
    let is_durable = journal.is_some();
    ScriptPlanParts {
        plans: *state.plan_limits(),
        pool: state.script_plan_pool(),
        code: *limits,
        code_host: Box::new(move |host| code_host(host, is_durable)),
        clock: journal.map(|journal| (journal.clock(), journal.entropy())),
        hooks,
    }
}

/// The outcome of a plan that cannot be run.
pub fn refused(error: &PlanError) -> Outcome {
    Outcome {
        error: Some(RunError::new(ErrorKind::Syntax, error.to_string())),
        ..Outcome::default()
    }
}

/// A plan whose inputs are there.
///
/// # Errors
///
/// The inputs that are missing.
pub fn with_inputs(plan: Plan, input: &Value) -> Result<Plan, PlanError> {
    match missing_inputs(&plan, input, |name| {
        format!("pass it in `input`, as `{{ {}: … }}`", Value::from(name))
    }) {
        missing if missing.is_empty() => Ok(plan),
        missing => Err(PlanError::Invalid(missing)),
    }
}
