//! The layer that runs the plans of a script: `runWorkflow`.
//!
//! A plan is a child of the script. Its calls enter the pipeline below this layer, so each is audited,
//! authorized, journaled and counted as a call of the script, and a resumed script finds their answers in its
//! journal. Its code runs in sandboxes of a pool of its own: scripts that wait for their plans hold all
//! places of the other one. That code reaches the pipeline below this layer too, so it runs no plans.

use std::sync::Arc;

use pml_protocol::{
    ErrorKind, Failure, FailureKind, HostFuture, Limits, Request, RunContext, ToolHost, ToolResult,
    VirtualClock, to_result,
};
use pml_runtime::LazyPool;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::limits::PlanLimits;
use crate::pipeline_runner::{PipelineRunner, RunnerHooks, RunnerParts};
use crate::plan::Plan;
use crate::report::WorkflowReport;
use crate::scheduler::RunOptions;
use crate::validate::missing_inputs;

/// Plans of one script that run at once. Further ones wait.
const MAX_AT_ONCE: usize = 4;
/// Bytes of a plan that is read on the event loop.
const SMALL_PLAN: usize = 32 * 1024;

/// Makes the host of a task's code from that of the script.
pub type CodeHost = Box<dyn Fn(&Arc<dyn ToolHost>) -> Arc<dyn ToolHost> + Send + Sync>;

/// What the plans of a script need.
pub struct ScriptPlanParts {
    /// The bounds of each plan.
    pub plans: PlanLimits,
    /// Sandboxes for code; not those that the script is in.
    pub pool: Arc<LazyPool>,
    /// The limits of one code task.
    pub code: Limits,
    /// The host of one code task, above the pipeline.
    pub code_host: CodeHost,
    /// Time and randomness of code, if the script has a clock of its own.
    pub clock: Option<(VirtualClock, [u8; 32])>,
    /// The program.
    pub hooks: Arc<dyn RunnerHooks>,
}

/// Answers [`Request::Workflow`], and forwards the rest.
pub struct ScriptPlans {
    inner: Arc<dyn ToolHost>,
    parts: Arc<ScriptPlanParts>,
    turns: Semaphore,
}

impl ScriptPlans {
    /// Plans whose calls `inner` answers.
    pub fn new(inner: Arc<dyn ToolHost>, parts: ScriptPlanParts) -> Self {
        Self {
            inner,
            parts: Arc::new(parts),
            turns: Semaphore::new(MAX_AT_ONCE),
        }
    }

    async fn answer(&self, plan: &RawValue, input: &RawValue, run: &RunContext) -> ToolResult {
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        let input: Value = serde_json::from_str(input.get()).map_err(Failure::internal)?;
        let limits = self.parts.plans;
        let (json, is_small) = (plan.to_owned(), plan.get().len() <= SMALL_PLAN);
        let read = move || read_plan(&json, &limits);
        let plan = match is_small {
            true => read(),
            false => tokio::task::spawn_blocking(read)
                .await
                .map_err(Failure::internal)?,
        }?;
        let missing = missing_inputs(&plan, &input, |name| {
            let name = Value::from(name);
            format!("pass it in the second argument, `runWorkflow(plan, {{ {name}: … }})`")
        });
        if !missing.is_empty() {
            let lines: Vec<String> = missing.iter().map(ToString::to_string).collect();
            return Err(wrong(&lines.join("\n")));
        }
        let report = self.run(&plan, input, run).await;
        to_result(&for_script(report))
    }

    async fn run(&self, plan: &Plan, input: Value, run: &RunContext) -> WorkflowReport {
        let child = RunContext::with_id(
            run.id().clone(),
            run.session(),
            run.tenant().clone(),
            run.principal().clone(),
        );
        // What a task has read, the script gets, and what the script had read is in the plan.
        let child = child
            .with_fair_share(run.fair_share().clone())
            .with_made_calls(run.made_calls().clone())
            .with_flow(run.flow().clone());
        let (parts, inner) = (self.parts.clone(), self.inner.clone());
        let runner = PipelineRunner::new(RunnerParts {
            host: self.inner.clone(),
            code_host: Box::new(move || (parts.code_host)(&inner)),
            pool: self.parts.pool.clone(),
            limits: self.parts.code,
            context: child.clone(),
            clock: self.parts.clock,
            kept: None,
            hooks: self.parts.hooks.clone(),
        });
        // What stops the plan stops the script, which ends when all its requests wait.
        let stop = async {
            let error = runner.suspended().await;
            let _suspended = match error.kind {
                ErrorKind::Waiting | ErrorKind::Unknown => Some(run.control().suspend(error)),
                _ => {
                    run.control().end(error);
                    None
                }
            };
            std::future::pending().await
        };
        let options = RunOptions {
            input,
            limits: self.parts.plans,
            stop: Box::pin(stop),
            ..RunOptions::default()
        };
        tokio::select! {
            report = crate::scheduler::run(plan, &runner, options) => report,
            () = run.clock().follow(child.clock()) => std::future::pending().await,
        }
    }
}

fn read_plan(json: &RawValue, limits: &PlanLimits) -> Result<Plan, Failure> {
    let plan = match json.get().trim_start().starts_with('"') {
        true => {
            let text: String = serde_json::from_str(json.get()).map_err(Failure::internal)?;
            Plan::parse(&text, limits)
        }
        false => Plan::parse(json.get(), limits),
    };
    plan.map_err(|error| wrong(&error.to_string()))
}

fn wrong(mistakes: &str) -> Failure {
    let message = format!("the plan has mistakes:\n{mistakes}");
    Failure::new(FailureKind::Arguments, message)
}

/// The report without times: a resumed or replayed script gets the same.
fn for_script(report: WorkflowReport) -> Value {
    let mut tasks = Map::new();
    for task in report.tasks {
        let mut shown = json!({ "state": task.state, "attempts": task.attempts });
        if let Some((done, all)) = task.items {
            shown["items"] = json!({ "done": done, "all": all });
        }
        if let Some(error) = task.error {
            shown["error"] = json!({ "kind": error.kind, "message": error.message });
        }
        tasks.insert(task.id, shown);
    }
    json!({ "ok": report.ok, "state": report.state, "output": report.output, "tasks": tasks })
}

impl ToolHost for ScriptPlans {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Workflow { plan, input } => Box::pin(self.answer(plan, input, run)),
            _ => self.inner.handle(request, run),
        }
    }
}
