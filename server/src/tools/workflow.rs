//! `execute_workflow`: runs a plan.

use std::sync::Arc;
use std::time::Duration;

use pml_hosts::RunSpan;
use pml_hosts::journal::DurableScript;
use pml_protocol::{FailureKind, Limits, Outcome, RequestedLimits};
use pml_workflow::{KnownTool, Plan, PlanError, PlanLimits, Problem, TaskState, check_tools};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::arguments::{self, Whole};
use super::run_end::EndedRun;
use super::{TaskEvents, ToolCall, run_result};
use crate::client_session::{ClientRun, ClientSession, RunApprover};
use crate::durable_runs::Shown;
use crate::elicitation::ElicitationApprover;
use crate::log_context::LogContext;
use crate::plan_hooks::{PlanHooks, PlanLogs};
use crate::plan_run::{MAX_CALLS, PlanRun, with_inputs};
use crate::tool_reply::ToolReply;
use crate::tool_task::TaskEvent;

/// Tasks that a reply lists one by one. Of a larger plan, it lists those that are not done.
const MAX_LISTED: usize = 50;
/// Characters of a reply besides its output.
const REST_CHARS: usize = 6_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    plan: Option<Value>,
    #[serde(default)]
    input: Option<Map<String, Value>>,
    /// The id of an earlier run, whose result is wanted.
    run: Option<String>,
    timeout_ms: Option<Whole>,
    max_output_chars: Option<Whole>,
}

impl Arguments {
    /// A client can ask for less than the operator allows, never for more.
    fn limits(&self, operator: &Limits) -> Limits {
        let number = |whole: Option<Whole>| whole.map(|Whole(number)| number).filter(|n| *n > 0);
        let limits = operator.lowered(&RequestedLimits {
            wall_ms: number(self.timeout_ms),
            output_chars: number(self.max_output_chars),
            ..RequestedLimits::default()
        });
        // Tasks and items are bounded, and the operator's budget of calls holds as well.
        Limits {
            calls: MAX_CALLS,
            ..limits
        }
    }
}

/// The text of a plan, as the journal keeps it.
fn text_of(plan: &Value) -> String {
    match plan {
        Value::String(text) => text.clone(),
        plan => plan.to_string(),
    }
}

/// Runs a plan.
pub async fn workflow(mut call: ToolCall, events: TaskEvents) -> ToolReply {
    let (state, session) = (call.state.clone(), call.session.clone());
    let parsed = arguments::parse(call.arguments.take());
    let mut arguments: Arguments = match parsed {
        Ok(arguments) => arguments,
        Err(mistake) => return ToolReply::failure(session.replies().text(&mistake).await),
    };
    let limits = arguments.limits(state.limits());
    let given = |text: &String| !text.trim().is_empty();
    let (plan, run) = (arguments.plan.take(), arguments.run.take().filter(given));
    let plan = match (plan, run) {
        (None, Some(run)) => {
            let time = Duration::from_millis(limits.wall_ms);
            return run_result::wait(&state, session, &run, time).await;
        }
        (Some(plan), _) => plan,
        (None, None) => {
            let message = "the arguments do not fit the schema: `plan` is missing; it is an object with `tasks`";
            return ToolReply::failure(message.into());
        }
    };
    let text = text_of(&plan);
    let input = Value::Object(arguments.input.take().unwrap_or_default());
    let read = read(text.clone(), *state.plan_limits()).await;
    let read = read.and_then(|plan| with_inputs(plan, &input));
    let plan = match read {
        Ok(plan) => check(plan, &session).await,
        Err(error) => Err(error),
    };
    match plan {
        Ok(plan) => run_plan(call, events, &plan, text, input, limits).await,
        Err(error) => {
            let message = format!("the plan was not run, it has mistakes:\n{error}");
            ToolReply::failure(session.replies().text(&message).await)
        }
    }
}

/// A large plan is read off the event loop.
async fn read(text: String, limits: PlanLimits) -> Result<Plan, PlanError> {
    const SMALL: usize = 32 * 1024;
    if text.len() <= SMALL {
        return Plan::parse(&text, &limits);
    }
    let read = tokio::task::spawn_blocking(move || Plan::parse(&text, &limits));
    let failed = |_| PlanError::Syntax("reading it failed".to_owned());
    read.await.unwrap_or_else(|error| Err(failed(error)))
}

/// Tools that do not exist and arguments that cannot fit are mistakes of the plan: nothing of it runs.
async fn check(plan: Plan, session: &ClientSession) -> Result<Plan, PlanError> {
    let gateway = session.gateway();
    let (mut known, mut problems) = (Vec::<KnownTool>::new(), Vec::new());
    for (index, task) in plan.tasks.iter().enumerate() {
        let Some(tool) = task.tool() else { continue };
        let (id, _) = pml_protocol::split_version(tool);
        if known.iter().any(|known| known.id == id) {
            continue;
        }
        let id = match gateway.spelled(id).await {
            // Its arguments are checked when it is called.
            Some(_) => continue,
            None => id,
        };
        match gateway.describe_for_call(id).await {
            Ok(tool) => known.push(KnownTool {
                id: id.to_owned(),
                schema: tool.input_schema.clone(),
            }),
            Err(error) => {
                let failure = pml_hosts::call_failure(error);
                if matches!(failure.kind, FailureKind::Unknown | FailureKind::Denied) {
                    let place = format!("tasks[{index}].tool");
                    problems.push(Problem::new(place, failure.message));
                }
            }
        }
    }
    // What is not known here was either named above or cannot be checked now.
    let servers = gateway.servers().map(str::to_owned).collect();
    problems.extend(check_tools(&plan, &known, &servers));
    match problems.is_empty() {
        true => Ok(plan),
        false => Err(PlanError::Invalid(problems)),
    }
}

async fn run_plan(
    call: ToolCall,
    events: TaskEvents,
    plan: &Plan,
    text: String,
    input: Value,
    limits: Limits,
) -> ToolReply {
    let ToolCall {
        state,
        session,
        notifications,
        ..
    } = call;
    let asker = Arc::new(ElicitationApprover::new(events.clone(), call.can_ask));
    let approver = RunApprover {
        approver: asker.clone(),
        if_unasked: call.if_unasked,
    };
    let script = DurableScript {
        name: "workflow".to_owned(),
        source: text,
        args: vec![input.to_string()],
        file: None,
        is_workflow: true,
    };
    let (observed, run) = RunSpan::begin(state.telemetry(), call.trace.as_ref(), session.new_run());
    LogContext::run_begins(&run);
    let client_run = session.begin_run(&script.written(), run.flow()).await;
    let audited = state
        .audit()
        .map(|audit| (audit.clone(), script.source.clone()));
    let durable = match state.durable_runs() {
        Some(runs) => {
            let placeholders = client_run.saved_placeholders().await;
            let time = state.tool_timeout();
            let shown = Shown {
                placeholders,
                hold: false,
            };
            Some(runs.begin(&run, script, limits, time, shown, call.task))
        }
        None => None,
    };
    if let Some(task) = durable.as_ref().and_then(|durable| durable.task()) {
        // Without a receiver, the request was cancelled.
        let _ = events.send(TaskEvent::Begun(task.clone())).await;
    }
    let journal = durable.as_ref().map(|durable| durable.journal().clone());
    let (on_progress, on_report) = (notifications.on_progress(), notifications.reporter());
    // A message of a server is data of it, and the output may be held.
    let hides = session.enforces_labels();
    let progress = move |message| {
        if !hides {
            on_progress(message);
        }
    };
    let durable_journal = journal.clone();
    let pipeline = client_run.pipeline(&state, &run, &limits, approver, durable_journal, progress);
    let host = pipeline.host;
    let hooks = Arc::new(PlanHooks {
        gateway: session.gateway().clone(),
        report: Box::new(move |text| {
            if !hides {
                on_report(text);
            }
        }),
        logs: PlanLogs::default(),
    });
    let plan_run = PlanRun {
        state: state.clone(),
        run: run.clone(),
        host,
        journal,
        limits,
        hooks,
    };
    state
        .observer()
        .run_begins(&run, session.last_query().as_deref());
    let outcome = plan_run.outcome(plan, input).await;
    let ended = EndedRun {
        what: "plan",
        state: &state,
        session: &session,
        client_run: &client_run,
        run: &run,
        limits,
        durable,
        observed,
        notifications,
        audited,
        asker,
    };
    let show = |outcome: &mut Outcome| show_report(outcome, &client_run, limits);
    ended.reply(outcome, show).await
}

/// Makes the report what a model reads, unless only its shape is shown.
fn show_report(outcome: &mut Outcome, client_run: &ClientRun<'_>, limits: Limits) {
    let report = outcome.result.as_deref().map(RawValue::get);
    let report = report.and_then(|json| serde_json::from_str(json).ok());
    if let (false, Some(report)) = (outcome.held, report) {
        let limit = usize::try_from(limits.output_chars).unwrap_or(usize::MAX);
        let shown = shown(report, limit, |output| client_run.keep(output));
        outcome.result = to_raw_value(&shown).ok();
    }
}

/// The report as a model reads it: a large output is behind a handle, and of many tasks it lists those that
/// are not done.
fn shown(mut report: Value, limit: usize, keep: impl FnOnce(&str) -> Option<String>) -> Value {
    if let Some(tasks) = report["tasks"].as_array_mut()
        && tasks.len() > MAX_LISTED
    {
        let mut counts: Map<String, Value> = Map::new();
        for task in tasks.iter() {
            let state = task["state"].as_str().unwrap_or_default().to_owned();
            let count = counts.get(&state).and_then(Value::as_u64).unwrap_or(0);
            counts.insert(state, json!(count + 1));
        }
        tasks.retain(|task| task["state"] != TaskState::Done.as_str());
        tasks.truncate(MAX_LISTED);
        report["counts"] = Value::Object(counts);
        if let Some(path) = report["times"]["criticalPath"].as_array_mut() {
            path.truncate(MAX_LISTED);
        }
    }
    let output = report["output"].to_string();
    let chars = output.chars().count();
    if chars <= limit.saturating_sub(REST_CHARS).max(limit / 2) {
        return report;
    }
    report["output"] = match keep(&output) {
        Some(handle) => json!({
            "handle": handle,
            "chars": chars,
            "hint": format!("Too large to show. In execute_code, `await load(\"{handle}\")` gives all of it: filter it there."),
        }),
        None => {
            json!({ "chars": chars, "hint": "Too large to show, and too large to keep: give the plan an `output` that is less." })
        }
    };
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tasks: usize, output: Value) -> Value {
        let task = |n: usize| json!({ "id": format!("t{n}"), "state": if n % 100 == 7 { "failed" } else { "done" } });
        json!({ "ok": true, "output": output, "tasks": (0..tasks).map(task).collect::<Vec<_>>(), "times": {} })
    }

    #[test]
    fn a_large_output_is_behind_a_handle_and_the_states_stay() {
        let large = "x".repeat(50_000);
        let shown = shown(report(2, json!(large)), 24_000, |json| {
            assert_eq!(json.len(), 50_002);
            Some("r_abc".to_owned())
        });
        assert_eq!(shown["output"]["handle"], "r_abc");
        assert_eq!(shown["tasks"].as_array().unwrap().len(), 2);
        let small = report(2, json!("x"));
        let same = super::shown(small.clone(), 24_000, |_| panic!("it is small"));
        assert_eq!(same, small);
    }

    #[test]
    fn of_many_tasks_those_that_are_not_done_are_listed() {
        let shown = shown(report(1_000, json!(1)), 24_000, |_| None);
        assert_eq!(shown["counts"], json!({ "done": 990, "failed": 10 }));
        assert_eq!(shown["tasks"].as_array().unwrap().len(), 10);
    }
}
