//! `call_tool`: one tool call without a script.

use std::sync::Arc;

use pml_gateway::printable;
use pml_protocol::{Request, to_result};
use pml_reply::ReplyScrubber;
use serde::Deserialize;
use serde_json::Value;

use super::redactions::count_redactions;
use super::{TaskEvents, ToolCall, arguments};
use crate::ask_kinds::{ReplyTexts, ask_about_kinds};
use crate::client_session::RunApprover;
use crate::elicitation::ElicitationApprover;
use crate::log_context::LogContext;
use crate::tool_reply::ToolReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    tool: String,
    #[serde(default, alias = "arguments")]
    args: Value,
}

/// The id of a tool, which may be written as in a script: `tools.fs.read_file`.
fn canonical_id<'a>(written: &str, mut servers: impl Iterator<Item = &'a str>) -> String {
    let tool = written.strip_prefix("tools.").unwrap_or(written);
    let named = servers.find_map(|server| {
        let tool = tool.strip_prefix(server)?.strip_prefix(['.', '/'])?;
        (!written.contains(':')).then(|| format!("{server}:{tool}"))
    });
    named.unwrap_or_else(|| written.to_owned())
}

/// Calls one tool.
pub async fn call(call: ToolCall, events: TaskEvents) -> ToolReply {
    let ToolCall {
        state,
        session,
        notifications,
        ..
    } = call;
    let Arguments { tool, args } = match arguments::parse(call.arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return ToolReply::failure(session.replies().text(&mistake).await),
    };
    // Some models write the arguments as a string of JSON, and an empty one for a tool without input.
    let args = match args {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let tool = canonical_id(&tool, state.gateway().servers());
    let limits = *state.limits();
    let args = match to_result(&args) {
        Ok(args) => args,
        Err(failure) => {
            return ToolReply::failure(session.replies().text(&failure.message).await);
        }
    };
    let kinds_asker = Arc::new(ElicitationApprover::new(events, call.can_ask));
    let approver = RunApprover {
        approver: kinds_asker.clone(),
        if_unasked: call.if_unasked,
    };
    let run = session.new_run();
    let client_run = session.begin_run(args.get(), run.flow()).await;
    let run = match call.trace {
        Some(trace) => run.with_trace(trace),
        None => run,
    };
    LogContext::run_begins(&run);
    let (progress, hides) = (notifications.on_progress(), session.enforces_labels());
    // A message of a server is data of it, and the result may be held.
    let on_progress = move |message| {
        if !hides {
            progress(message);
        }
    };
    let host = client_run
        .pipeline(&state, &run, &limits, approver, None, on_progress)
        .host;
    state
        .observer()
        .run_begins(&run, session.last_query().as_deref());
    let request = Request::call(&tool, args);
    let result = host.handle(&request, &run).await;
    notifications.finish().await;
    state.observer().run_ended(&run, result.is_ok());
    state.record_shapes(session.observed_shapes().take());
    tracing::info!(run = %run.id(), tool = %printable(&tool), ok = result.is_ok(), "a tool was called");
    let texts = || ReplyTexts::of_result(&tool, &result);
    let time = state.gateway().approval_time();
    ask_about_kinds(client_run.replies(), &*kinds_asker, time, texts).await;
    let bytes = pml_reply::result_bytes(&result);
    let held = session.show_result(&result, &run.flow().current(), &limits);
    let (telemetry, audit) = (state.telemetry().cloned(), state.audit().cloned());
    let warnings = run.made_calls().take_warnings();
    let make = move |replies: &ReplyScrubber| {
        let reply = replies.call(&tool, result, &limits, held);
        let redactions = count_redactions(telemetry.as_ref(), &reply);
        if let Some(audit) = audit.filter(|_| !redactions.is_empty()) {
            audit.reply_scrubbed(&run, &tool, redactions);
        }
        ToolReply::call(&reply)
    };
    let mut reply = client_run.replies().make(bytes, make).await;
    for warning in warnings {
        let warning = format!("warning: {warning}");
        reply = reply.with_warning(client_run.replies().text(&warning).await);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_be_written_as_a_script_would() {
        let id = |written| canonical_id(written, ["fs", "git"].into_iter());
        assert_eq!(id("tools.fs.read_file"), "fs:read_file");
        assert_eq!(id("git/log"), "git:log");
        for other in ["fs:read.file", "fsx.read", "read_file", "fs"] {
            assert_eq!(id(other), other);
        }
    }
}
