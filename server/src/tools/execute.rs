//! `execute_code`: runs a script.

use std::sync::Arc;

use pml_protocol::{Limits, RequestedLimits};
use pml_reply::ReplyScrubber;
use pml_runtime::{RunOptions, Script};
use serde::Deserialize;

use super::arguments::{self, Whole};
use super::{TaskEvents, ToolCall};
use crate::client_session::RunApprover;
use crate::elicitation::ElicitationApprover;
use crate::tool_reply::ToolReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: String,
    timeout_ms: Option<Whole>,
    cpu_ms: Option<Whole>,
    memory_mb: Option<Whole>,
    max_output_chars: Option<Whole>,
}

impl Arguments {
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

/// Runs a script.
pub async fn execute(call: ToolCall, events: TaskEvents) -> ToolReply {
    let ToolCall {
        state,
        session,
        mut notifications,
        ..
    } = call;
    let arguments: Arguments = match arguments::parse(call.arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return ToolReply::failure(session.replies().text(&mistake).await),
    };
    let limits = arguments.limits(state.limits());
    let approver = RunApprover {
        approver: Arc::new(ElicitationApprover::new(events, call.can_ask)),
        if_unasked: call.if_unasked,
    };
    let client_run = session.begin_run(&arguments.code).await;
    let script = Script {
        name: "script.ts".to_owned(),
        source: arguments.code,
        args: Vec::new(),
    };
    let run = session.new_run();
    let durable = match state.durable_runs() {
        Some(runs) => {
            let placeholders = client_run.saved_placeholders().await;
            Some(runs.begin(&run, &script, limits, state.tool_timeout(), placeholders))
        }
        None => None,
    };
    let journal = durable.as_ref().map(|durable| durable.journal().clone());
    let host = client_run.pipeline(
        &state,
        &limits,
        approver,
        journal,
        notifications.on_progress(),
    );
    let options = RunOptions {
        context: Some(run.clone()),
        ..RunOptions::default()
    };
    let options = match &durable {
        Some(durable) => durable.options(options),
        None => options,
    };
    let mut on_event = |event: pml_runtime::Event<'_>| notifications.note(&event);
    let mut outcome = state
        .pool()
        .run_with(script, options, limits, host, &mut on_event)
        .await;
    if let Some(durable) = durable {
        durable.finish(&mut outcome).await;
    }
    notifications.finish().await;
    state.record_shapes(session.observed_shapes().take());
    tracing::info!(
        run = %run.id(),
        ok = outcome.ok,
        kind = outcome.error.as_ref().map(|error| error.kind.to_string()),
        wall_ms = outcome.stats.wall_ms,
        calls = outcome.calls.len(),
        "a script ended"
    );
    let bytes = pml_reply::outcome_bytes(&outcome);
    let make = move |replies: &ReplyScrubber| ToolReply::run(&replies.outcome(outcome, &limits));
    client_run.replies().make(bytes, make).await
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
