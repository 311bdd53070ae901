//! `execute_code`: runs a script.

use std::sync::Arc;
use std::time::Duration;

use pml_hosts::RunSpan;
use pml_hosts::journal::DurableScript;
use pml_protocol::{Limits, RequestedLimits};
use pml_runtime::{RunOptions, Script};
use pml_workflow::ScriptPlans;
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::arguments::{self, Whole};
use super::run_end::EndedRun;
use super::{TaskEvents, ToolCall, run_result};
use crate::client_session::RunApprover;
use crate::durable_runs::Shown;
use crate::elicitation::ElicitationApprover;
use crate::log_context::LogContext;
use crate::plan_hooks::{PlanHooks, PlanLogs};
use crate::plan_run::script_plan_parts;
use crate::tool_reply::ToolReply;
use crate::tool_task::TaskEvent;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: Option<String>,
    /// The id of an earlier run, whose result is wanted.
    run: Option<String>,
    /// Only the shape and the size of the result are wanted.
    hold: Option<bool>,
    timeout_ms: Option<Whole>,
    cpu_ms: Option<Whole>,
    memory_mb: Option<Whole>,
    max_output_chars: Option<Whole>,
}

/// What the client wants.
enum Wanted {
    /// A script is to be run.
    Script(String),
    /// The result of an earlier run.
    Result(String),
}

impl Arguments {
    fn wanted(&mut self) -> Result<Wanted, String> {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        // Some models fill in every field, with nothing for those they do not need.
        match (given(self.code.take()), given(self.run.take())) {
            (Some(code), None) => Ok(Wanted::Script(code)),
            (None, Some(run)) => Ok(Wanted::Result(run)),
            (Some(_), Some(_)) => Err(
                "the arguments do not fit the schema: give `code` to run a script, or `run` to get the result of an earlier run, not both".to_owned(),
            ),
            (None, None) => Err(
                "the arguments do not fit the schema: `code` is missing; it is the script to run".to_owned(),
            ),
        }
    }

    /// A client can ask for less than the operator allows, never for more.
    fn limits(&self, operator: &Limits) -> Limits {
        // Some models fill in every field, with 0 for those they do not need.
        let number = |whole: Option<Whole>| whole.map(|Whole(number)| number).filter(|n| *n > 0);
        operator.lowered(&RequestedLimits {
            wall_ms: number(self.timeout_ms),
            cpu_ms: number(self.cpu_ms),
            heap_bytes: number(self.memory_mb).map(|mib| mib.saturating_mul(1024 * 1024)),
            output_chars: number(self.max_output_chars),
            ..RequestedLimits::default()
        })
    }
}

/// Checks the arguments of a script that is not run yet.
///
/// # Errors
///
/// A sentence with the path of the wrong argument and the reason.
pub fn check_arguments(arguments: Option<JsonObject>) -> Result<(), String> {
    let mut arguments: Arguments = arguments::parse(arguments)?;
    match arguments.wanted()? {
        Wanted::Script(_) => Ok(()),
        Wanted::Result(_) => Err("the result of an earlier run is not a task: call `execute_code` with `run` and without a task".to_owned()),
    }
}

/// Runs a script.
pub async fn execute(call: ToolCall, events: TaskEvents) -> ToolReply {
    let ToolCall {
        state,
        session,
        mut notifications,
        ..
    } = call;
    let parsed = arguments::parse(call.arguments).and_then(|mut arguments: Arguments| {
        let limits = arguments.limits(state.limits());
        let hold = arguments.hold.unwrap_or_default();
        Ok((arguments.wanted()?, limits, hold))
    });
    let (code, limits, hold) = match parsed {
        Ok((Wanted::Script(code), limits, hold)) => (code, limits, hold),
        Ok((Wanted::Result(id), limits, _)) => {
            let time = Duration::from_millis(limits.wall_ms);
            return run_result::wait(&state, session, &id, time).await;
        }
        Err(mistake) => return ToolReply::failure(session.replies().text(&mistake).await),
    };
    let asker = Arc::new(ElicitationApprover::new(events.clone(), call.can_ask));
    let approver = RunApprover {
        approver: asker.clone(),
        if_unasked: call.if_unasked,
    };
    let (observed, run) = RunSpan::begin(state.telemetry(), call.trace.as_ref(), session.new_run());
    let client_run = session.begin_run(&code, run.flow()).await;
    let audited = state.audit().map(|audit| (audit.clone(), code.clone()));
    let script = Script {
        name: "script.ts".to_owned(),
        source: code,
        args: Vec::new(),
    };
    LogContext::run_begins(&run);
    let durable = match state.durable_runs() {
        Some(runs) => {
            let placeholders = client_run.saved_placeholders().await;
            let time = state.tool_timeout();
            let script = DurableScript {
                name: script.name.clone(),
                source: script.source.clone(),
                args: script.args.clone(),
                file: None,
                is_workflow: false,
            };
            let shown = Shown { placeholders, hold };
            Some(runs.begin(&run, script, limits, time, shown, call.task))
        }
        None => None,
    };
    if let Some(task) = durable.as_ref().and_then(|durable| durable.task()) {
        // Without a receiver, the request was cancelled.
        let _ = events.send(TaskEvent::Begun(task.clone())).await;
    }
    let journal = durable.as_ref().map(|durable| durable.journal().clone());
    let (on_progress, hides) = (
        notifications.on_progress(),
        hold || session.enforces_labels(),
    );
    // A message of a server is data of it, and the run may be held.
    let progress = move |progress| {
        if !hides {
            on_progress(progress)
        }
    };
    let durable_journal = journal.clone();
    let pipeline = client_run.pipeline(&state, &run, &limits, approver, durable_journal, progress);
    let report = notifications.reporter();
    let hooks = Arc::new(PlanHooks {
        gateway: session.gateway().clone(),
        report: Box::new(move |text| {
            if !hides {
                report(text);
            }
        }),
        logs: PlanLogs::default(),
    });
    state
        .observer()
        .run_begins(&run, session.last_query().as_deref());
    let parts = script_plan_parts(&state, &limits, journal.as_ref(), hooks.clone());
    let host = Arc::new(ScriptPlans::new(pipeline.host, parts));
    let options = RunOptions {
        context: Some(run.clone()),
        speculation: pipeline.speculation,
        ..RunOptions::default()
    };
    let options = match &durable {
        Some(durable) => durable.options(options),
        None => options,
    };
    let mut observed = observed;
    let flow = run.flow().clone();
    let mut on_event = |event: pml_runtime::Event<'_>| {
        if let (pml_runtime::Event::Started, Some(observed)) = (&event, &mut observed) {
            observed.has_worker();
        }
        if !hold && !session.hides(&flow) {
            notifications.note(&event);
        }
    };
    let mut outcome = state
        .pool()
        .run_with(script, options, limits, host, &mut on_event)
        .await;
    outcome.held = hold;
    outcome.logs.extend(hooks.logs.take());
    let ended = EndedRun {
        what: "script",
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
    ended.reply(outcome, |_| {}).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_client_can_lower_limits_and_not_raise_them() {
        let operator = Limits::default();
        let arguments: Arguments = serde_json::from_value(json!({
            "code": "", "timeout_ms": 10, "cpu_ms": 999_999, "memory_mb": u64::MAX, "max_output_chars": 7,
        }))
        .unwrap();
        let limits = arguments.limits(&operator);
        assert_eq!(limits.wall_ms, 10);
        assert_eq!(limits.cpu_ms, operator.cpu_ms);
        assert_eq!(limits.heap_bytes, operator.heap_bytes);
        assert_eq!(limits.output_chars, 7);
    }
}
