//! A call of one of our tools, as telemetry sees it.

use std::borrow::Cow;
use std::future::Future;
use std::time::Instant;

use axum::http::request::Parts;
use pml_protocol::{Outcome, RunContext, TraceContext};
use pml_telemetry::{Span, SpanKind, Telemetry, conventions};
use rmcp::RoleServer;
use rmcp::model::{ProtocolVersion, RequestId};
use rmcp::service::RequestContext;

use crate::client_session::ClientSession;
use crate::tool_descriptions;
use crate::tool_reply::ToolReply;

/// A call of one of our tools: a span, and a value of the metrics. Dropping it before its reply counts it as
/// cancelled.
pub struct Operation {
    telemetry: Telemetry,
    span: Option<Span>,
    tool: &'static str,
    transport: &'static str,
    began: Instant,
    is_of_client: bool,
    error: Option<&'static str>,
}

impl Operation {
    /// The operation of a request, below the span that the client names in `_meta` or in headers.
    pub fn begin(
        telemetry: &Telemetry,
        tool: &str,
        session: &ClientSession,
        context: &RequestContext<RoleServer>,
    ) -> Self {
        let parent = incoming(telemetry, context);
        let tool = [
            tool_descriptions::EXECUTE,
            tool_descriptions::CALL,
            tool_descriptions::SEARCH,
            tool_descriptions::WORKFLOW,
        ]
        .into_iter()
        .find(|known| *known == tool)
        .unwrap_or("unknown");
        let http = context.extensions.get::<Parts>();
        let transport = if http.is_some() { "tcp" } else { "pipe" };
        let name = format!("{} {tool}", conventions::TOOLS_CALL);
        let mut span = telemetry.span(parent.as_ref(), name, SpanKind::Server);
        if span.is_recorded() {
            span.set(conventions::METHOD, conventions::TOOLS_CALL);
            span.set(conventions::OPERATION, conventions::EXECUTE_TOOL);
            span.set(conventions::TOOL, tool);
            span.set(conventions::TRANSPORT, transport);
            span.set(conventions::SESSION, session.id().to_string());
            span.set(conventions::PRINCIPAL, session.principal().to_string());
            span.set(conventions::REQUEST_ID, id_of(&context.id));
            if let Some(revision) = context.protocol_version() {
                span.set(conventions::REVISION, revision_of(&revision));
            }
        }
        Self {
            telemetry: telemetry.clone(),
            span: Some(span),
            tool,
            transport,
            began: Instant::now(),
            is_of_client: parent.is_some(),
            error: Some("cancelled"),
        }
    }

    /// What the run of the call is a part of; `None` if neither the client nor pml traces it.
    pub fn trace(&self) -> Option<TraceContext> {
        let is_traced = self.is_of_client || self.telemetry.records_spans();
        let span = self.span.as_ref().filter(|_| is_traced);
        span.map(|span| span.context().clone())
    }

    /// Does the call.
    pub async fn observe(
        operation: Option<Self>,
        work: impl Future<Output = ToolReply>,
    ) -> ToolReply {
        let reply = work.await;
        let Some(mut operation) = operation else {
            return reply;
        };
        operation.error = reply.is_failure().then_some(conventions::TOOL_ERROR);
        // A client that traces finds the span of the reply.
        match operation.trace().filter(|_| operation.is_of_client) {
            Some(trace) => reply.with_trace(&trace),
            None => reply,
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let metrics = self.telemetry.metrics();
        metrics.operation_ended(self.tool, self.transport, self.error, took);
        if let Some(mut span) = self.span.take() {
            if let Some(error) = self.error {
                span.set_error(error);
            }
            span.end();
        }
    }
}

fn incoming(telemetry: &Telemetry, context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let meta = &context.meta;
    if let Some(parent) = meta.get_traceparent() {
        return telemetry.incoming(parent, meta.get_tracestate(), meta.get_baggage());
    }
    let headers = &context.extensions.get::<Parts>()?.headers;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    telemetry.incoming(
        header("traceparent")?,
        header("tracestate"),
        header("baggage"),
    )
}

fn id_of(id: &RequestId) -> String {
    // Ids of clients may be long; what identifies one is its beginning.
    id.to_string().chars().take(100).collect()
}

fn revision_of(revision: &ProtocolVersion) -> String {
    revision.to_string()
}

/// The run of a script, as telemetry sees it.
pub struct RunSpan {
    telemetry: Telemetry,
    span: Option<Span>,
    began: Instant,
    has_started: bool,
}

impl RunSpan {
    /// Begins the span of a run below `parent`. Returns it with the run as a part of it.
    pub fn begin(
        telemetry: Option<&Telemetry>,
        parent: Option<&TraceContext>,
        run: RunContext,
    ) -> (Option<Self>, RunContext) {
        let Some(telemetry) = telemetry else {
            return (None, run);
        };
        let name: Cow<'static, str> = conventions::RUN_SPAN.into();
        let mut span = telemetry.span(parent, name, SpanKind::Internal);
        span.set(conventions::RUN, run.id().to_string());
        let is_traced = parent.is_some() || telemetry.records_spans();
        let run = match is_traced {
            true => run.with_trace(span.context().clone()),
            false => run,
        };
        let observed = Self {
            telemetry: telemetry.clone(),
            span: Some(span),
            began: Instant::now(),
            has_started: false,
        };
        (Some(observed), run)
    }

    /// The run has its worker.
    pub fn has_worker(&mut self) {
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        let now = Instant::now();
        self.telemetry.metrics().waited("worker", now - self.began);
        if let Some(span) = &self.span {
            span.add_part(conventions::WAIT_WORKER, self.began, now);
        }
    }

    /// The run has ended.
    pub fn end(mut self, outcome: &Outcome) {
        let kind = outcome.error.as_ref().map(|error| error.kind.to_string());
        let metrics = self.telemetry.metrics();
        metrics.run_ended(kind.as_deref().unwrap_or("ok"), self.began.elapsed());
        let Some(mut span) = self.span.take() else {
            return;
        };
        let calls = i64::try_from(outcome.calls.len()).unwrap_or(i64::MAX);
        span.set(conventions::CALLS, calls);
        span.set(conventions::CPU, outcome.stats.cpu_ms / 1_000.0);
        if let Some(kind) = kind {
            span.set_error(kind);
        }
        span.end();
    }
}
