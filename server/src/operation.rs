//! A call of one of our tools, as telemetry sees it.

use std::future::Future;
use std::time::Instant;

use axum::http::request::Parts;
use pml_protocol::TraceContext;
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
