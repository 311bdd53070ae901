//! One attempt of a call: sends it, waits for the response, cancels it when it is no longer needed.

use std::time::Duration;

use pml_protocol::{EffectClass, RunContext, TraceContext};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};
use serde_json::{Map, Value};

use super::child::ChildPipelines;
use super::error::{CallError, CallErrorKind};
use super::progress::ProgressSink;
use super::unwrap::{Unwrapped, unwrap, unwrap_lenient};
use crate::ToolId;
use crate::off_loop::off_loop;
use crate::policy::retry::Failure;
use crate::server::ProgressSubscription;
use crate::source::McpSession;
use crate::transport::{
    MALFORMED, MAX_MESSAGE_BYTES, MAX_PARSED_BYTES, TOO_LARGE, quoted, without_paths,
};

const QUOTED_LINES: usize = 5;

/// A failed attempt.
pub struct FailedAttempt {
    /// What the caller gets if there is no further attempt.
    pub error: CallError,
    /// How far the call came, which decides whether it is retried.
    pub failure: Failure,
    /// Whether the server seems unhealthy: it did not respond, or not with JSON-RPC.
    pub unhealthy: bool,
}

/// A call to send.
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a ToolId,
    /// The arguments, which fit its input schema.
    pub arguments: Map<String, Value>,
    /// How long to wait for the answer.
    pub limit: Duration,
    /// Receives its progress.
    pub progress: Option<ProgressSink>,
    /// Sent along in `_meta`, and over HTTP in headers.
    pub trace: Option<&'a TraceContext>,
    /// What the call does to the world.
    pub class: EffectClass,
    /// The request that the call belongs to.
    pub request: Option<&'a RunContext>,
    /// Makes the pipeline of a child run, for a source that runs code.
    pub children: Option<&'a dyn ChildPipelines>,
}

/// Sends the call and waits for its response, for at most `limit` from now.
///
/// # Cancel safety
/// Dropping the future, as when the run ends, cancels the call at the server.
pub async fn dispatch(session: &McpSession, call: ToolCall<'_>) -> Result<Value, FailedAttempt> {
    let ToolCall {
        tool,
        arguments,
        limit,
        progress,
        trace,
        ..
    } = call;
    let params = CallToolRequestParams::new(tool.tool().to_owned()).with_arguments(arguments);
    let sent = session
        .peer
        .send_request_with_option(
            ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            request_options(trace),
        )
        .await;
    let handle = match sent {
        Ok(handle) => handle,
        Err(_) => return Err(lost(session, tool, Failure::NeverSent).await),
    };
    let _progress: Option<ProgressSubscription> = progress.map(|sink| {
        session
            .handler
            .subscribe(handle.progress_token.clone(), sink)
    });
    let _held = HeldResult {
        session,
        id: handle.id.clone(),
    };
    let mut pending = PendingRequest(Some(handle));
    let answer = tokio::select! {
        answer = pending.answer() => answer,
        () = tokio::time::sleep(limit) => {
            pending.cancel("the call timed out");
            return Err(timed_out(session, tool, limit));
        }
    };
    let id = pending.finish();
    match answer {
        Ok(result) => read(tool, result),
        Err(ServiceError::McpError(error)) => Err(refused(tool, &error)),
        Err(ServiceError::TransportSend(error)) => Err(unsent(session, tool, &error).await),
        Err(ServiceError::TransportClosed) => {
            let failure = match id {
                Some(id)
                    if !session.traffic.may_have_been_sent(&id)
                        && session.process_id().is_some() =>
                {
                    Failure::NeverSent
                }
                _ => Failure::Unanswered,
            };
            Err(lost(session, tool, failure).await)
        }
        Err(error) => Err(FailedAttempt {
            error: CallError::permanent(
                CallErrorKind::Protocol,
                tool.as_str(),
                format!("`{tool}`: {}", without_paths(&error.to_string())),
            ),
            failure: Failure::Unanswered,
            unhealthy: true,
        }),
    }
}

/// The options of a request, with the trace that it belongs to in its `_meta`.
fn request_options(trace: Option<&TraceContext>) -> PeerRequestOptions {
    let mut options = PeerRequestOptions::no_options();
    if let Some(trace) = trace {
        let mut meta = RequestMetaObject::new();
        meta.set_traceparent(trace.traceparent());
        if let Some(state) = trace.tracestate() {
            meta.set_tracestate(state);
        }
        if let Some(baggage) = trace.baggage() {
            meta.set_baggage(baggage);
        }
        options.meta = Some(meta);
    }
    options
}

/// The response of a request, which may be large and counts as unread until this is dropped.
struct HeldResult<'a> {
    session: &'a McpSession,
    id: RequestId,
}

impl Drop for HeldResult<'_> {
    fn drop(&mut self) {
        if let RequestId::Number(id) = self.id {
            self.session.traffic.held.release(id);
        }
    }
}

/// A request that was sent. Dropped without a response, it sends a cancellation.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl PendingRequest {
    async fn answer(&mut self) -> Result<ServerResult, ServiceError> {
        match &mut self.0 {
            Some(handle) => (&mut handle.rx)
                .await
                .unwrap_or(Err(ServiceError::TransportClosed)),
            None => Err(ServiceError::TransportClosed),
        }
    }

    fn finish(&mut self) -> Option<rmcp::model::RequestId> {
        self.0.take().map(|handle| handle.id)
    }

    fn cancel(&mut self, reason: &'static str) {
        if let Some(handle) = self.0.take() {
            // In the background: a server that hangs must not block the caller as well.
            tokio::spawn(handle.cancel(Some(reason.to_owned())));
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if tokio::runtime::Handle::try_current().is_ok() {
            self.cancel("the caller no longer waits for the answer");
        }
    }
}

fn read(tool: &ToolId, result: ServerResult) -> Result<Value, FailedAttempt> {
    let value = match result {
        ServerResult::CallToolResult(result) => match off_loop(tool.server(), text_bytes(&result), || unwrap(result)) {
            Unwrapped::Value(value) => Ok(value),
            Unwrapped::Error(text) => Err(text),
            Unwrapped::TooManyValues => {
                return Err(FailedAttempt {
                    error: CallError::permanent(
                        CallErrorKind::Output,
                        tool.as_str(),
                        too_many_values(tool),
                    ),
                    failure: Failure::Answered,
                    unhealthy: false,
                });
            }
        },
        ServerResult::CustomResult(result) => unwrap_lenient(result.0),
        ServerResult::EmptyResult(_) => Ok(Value::Null),
        ServerResult::InputRequiredResult(_) => Err("the tool asks the user for input, which a script cannot give: call it from a client that can".to_owned()),
        _ => {
            return Err(FailedAttempt {
                error: CallError::permanent(
                    CallErrorKind::Protocol,
                    tool.as_str(),
                    format!("the server answered `{tool}` with a result that is not a tool result"),
                ),
                failure: Failure::Answered,
                unhealthy: false,
            });
        }
    };
    value.map_err(|text| FailedAttempt {
        error: CallError::permanent(CallErrorKind::Tool, tool.as_str(), text),
        failure: Failure::Answered,
        unhealthy: false,
    })
}

/// The text of a result, which may be JSON and is parsed then.
fn text_bytes(result: &CallToolResult) -> usize {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.len()),
        _ => None,
    });
    texts.sum()
}

/// A JSON-RPC error, of the server or of our transport in place of the response.
fn refused(tool: &ToolId, error: &rmcp::model::ErrorData) -> FailedAttempt {
    let data = error.data.as_ref();
    let (kind, message, unhealthy) = match error.code {
        TOO_LARGE => {
            let bytes = data.and_then(|data| data["bytes"].as_u64()).unwrap_or(0);
            let has_values = data.is_some_and(|data| data["values"] == true);
            let message = match has_values {
                true => too_many_values(tool),
                false => too_large(tool, bytes),
            };
            (CallErrorKind::Output, message, false)
        }
        MALFORMED => {
            let answer = data.and_then(|data| data["answer"].as_str()).unwrap_or("");
            (
                CallErrorKind::Protocol,
                format!(
                    "invalid response of the server to `{tool}`, {}: {answer}",
                    error.message
                ),
                true,
            )
        }
        _ => {
            let detail = data.map(|data| format!(" ({data})")).unwrap_or_default();
            (
                CallErrorKind::Tool,
                format!("{}{detail}", error.message),
                false,
            )
        }
    };
    FailedAttempt {
        error: CallError::permanent(kind, tool.as_str(), message),
        failure: Failure::Answered,
        unhealthy,
    }
}

fn too_large(tool: &ToolId, bytes: u64) -> String {
    format!(
        "the result of `{tool}` has {:.1} MiB, over the limit of {} MiB: ask the tool for less, such as a page or a part",
        bytes as f64 / 1_048_576.0,
        MAX_MESSAGE_BYTES / 1_048_576
    )
}

fn too_many_values(tool: &ToolId) -> String {
    format!(
        "the result of `{tool}` has too many values: parsed, they would take more than {} MiB; ask the tool for less, such as a page or a part",
        MAX_PARSED_BYTES / 1_048_576
    )
}

fn timed_out(session: &McpSession, tool: &ToolId, limit: Duration) -> FailedAttempt {
    let strays = session.traffic.strays();
    let hint = if strays > 0 {
        format!(" (the server sent {strays} responses with an unknown id)")
    } else {
        String::new()
    };
    FailedAttempt {
        error: CallError::transient(
            CallErrorKind::Timeout,
            tool.as_str(),
            format!(
                "`{tool}` did not answer within {:.1} s{hint}: ask for less, or allow it more time (`timeout` of the server, `--tool-timeout` of a run)",
                limit.as_secs_f64()
            ),
            None,
        ),
        failure: Failure::Unanswered,
        unhealthy: true,
    }
}

async fn lost(session: &McpSession, tool: &ToolId, failure: Failure) -> FailedAttempt {
    let ended = match session.exit_status().await {
        Some(status) => format!("the server of `{tool}` ended ({status})"),
        None => format!("the connection to the server of `{tool}` was lost"),
    };
    let effect = match failure {
        Failure::NeverSent => "before the call was sent: call again",
        _ => "during the call, which may have had its effect: check before calling again",
    };
    let words = quoted(&session.stderr.last(QUOTED_LINES));
    let message = format!("{ended} {effect}{words}");
    FailedAttempt {
        error: CallError {
            retryable: failure == Failure::NeverSent,
            ..CallError::permanent(CallErrorKind::Protocol, tool.as_str(), message)
        },
        failure,
        unhealthy: true,
    }
}

/// The transport could not send the call. Over a pipe nothing complete arrived; over HTTP it depends
/// on the error.
async fn unsent(
    session: &McpSession,
    tool: &ToolId,
    error: &rmcp::transport::DynamicTransportError,
) -> FailedAttempt {
    if session.process_id().is_some() {
        return lost(session, tool, Failure::NeverSent).await;
    }
    let mut refused_connection = false;
    let mut status = None;
    let mut retry_after = None;
    let mut challenge: Option<Box<str>> = None;
    let mut innermost: &(dyn std::error::Error + 'static) = error.error.as_ref();
    loop {
        // `source()` of these two does not return the inner error.
        match innermost.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(error)) => refused_connection |= error.is_connect(),
            Some(StreamableHttpError::HttpStatus(error)) => {
                status = Some(error.status);
                let after = error.retry_after.as_ref();
                retry_after = after
                    .and_then(|after| after.trim().parse().ok())
                    .map(Duration::from_secs);
            }
            _ => {}
        }
        if let Some(error) = innermost.downcast_ref::<reqwest::Error>() {
            refused_connection |= error.is_connect();
        }
        if let Some(error) = innermost.downcast_ref::<AuthRequiredError>() {
            challenge = Some(error.www_authenticate_header.as_str().into());
        }
        if let Some(error) = innermost.downcast_ref::<InsufficientScopeError>() {
            challenge = Some(error.www_authenticate_header.as_str().into());
        }
        match innermost.source() {
            Some(source) => innermost = source,
            None => break,
        }
    }
    if challenge.is_some() {
        let message = format!(
            "the server of `{tool}` requires a login, or one with more rights: run `pml login {}`",
            tool.server()
        );
        return FailedAttempt {
            error: CallError {
                challenge,
                ..CallError::permanent(CallErrorKind::Denied, tool.as_str(), message)
            },
            failure: Failure::Answered,
            unhealthy: false,
        };
    }
    let reason = without_paths(&innermost.to_string());
    let failure = match (refused_connection, status) {
        (true, _) | (_, Some(429)) => Failure::NeverSent,
        _ => Failure::Unanswered,
    };
    if failure == Failure::Unanswered && status.is_none() {
        let message = format!(
            "invalid response of the server of `{tool}` ({reason}); the call may have had its effect: check before calling again"
        );
        return FailedAttempt {
            error: CallError::permanent(CallErrorKind::Protocol, tool.as_str(), message),
            failure,
            unhealthy: true,
        };
    }
    let message = format!("the server of `{tool}` did not accept the call: {reason}");
    FailedAttempt {
        error: CallError::transient(
            CallErrorKind::Unavailable,
            tool.as_str(),
            message,
            retry_after,
        ),
        failure,
        // 429: the server is busy, not unhealthy.
        unhealthy: status != Some(429),
    }
}
