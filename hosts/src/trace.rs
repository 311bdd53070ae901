//! The layer that makes a span of every request, and counts those that reach a server.

use std::time::{Duration, Instant};

use pml_gateway::Gateway;
use pml_policy::suspensions::{Suspended, Suspensions};
use pml_protocol::{
    FailureKind, HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost, ToolResult,
};
use pml_telemetry::{Anomaly, CallEnd, Span, SpanKind, Speculated, Telemetry, conventions};

use crate::call_costs::CallCosts;

/// Waits that are shorter are not shown as spans.
const SHOWN_WAIT: Duration = Duration::from_millis(1);

/// Makes a span of every request that a script waits for, below the span of its run, and counts how
/// requests to servers end. What the journal of a resumed run answers does not come here.
pub struct Trace<H> {
    inner: H,
    telemetry: Telemetry,
    gateway: Gateway,
    costs: CallCosts,
    suspensions: Suspensions,
}

impl<H> Trace<H> {
    /// Observes the requests of `inner`. What a sudden change withdraws is added to `suspensions`.
    pub fn new(
        telemetry: Telemetry,
        gateway: Gateway,
        costs: CallCosts,
        suspensions: Suspensions,
        inner: H,
    ) -> Self {
        Self {
            inner,
            telemetry,
            gateway,
            costs,
            suspensions,
        }
    }

    /// Withdraws what the operator wants withdrawn after a sudden change.
    fn suspend(&self, anomaly: &Anomaly) {
        let tool = || Suspended::Tool(anomaly.tool.clone());
        let caller = anomaly.caller.as_ref().filter(|_| anomaly.suspends_caller);
        let principal = caller.map(|caller| Suspended::Principal(caller.principal.clone()));
        let all = anomaly
            .suspends_tool
            .then(tool)
            .into_iter()
            .chain(principal);
        for suspended in all {
            let added = self
                .suspensions
                .add(suspended.clone(), &anomaly.to_string());
            if let Err(error) = added {
                tracing::error!(
                    %error,
                    "the {suspended} is withdrawn only until this process ends"
                );
            }
        }
    }
}

/// What a request is called in the conventions.
struct Operation<'a> {
    method: &'static str,
    /// What is asked for: a tool or a prompt.
    target: Option<&'a str>,
    server: &'a str,
    /// What metrics name: the tool, else the server.
    counted_as: &'a str,
}

impl<'a> Operation<'a> {
    fn of(request: &'a Request) -> Option<Self> {
        Some(match request.target() {
            Target::Tool { tool, .. } => Self {
                method: conventions::TOOLS_CALL,
                target: Some(tool),
                server: tool.split_once(':').map_or(tool, |(server, _)| server),
                counted_as: tool,
            },
            Target::Resources { server, request } => {
                let (method, target) = match request {
                    ResourceRequest::ListResources => ("resources/list", None),
                    ResourceRequest::ReadResource { .. } => ("resources/read", None),
                    ResourceRequest::ListPrompts => ("prompts/list", None),
                    ResourceRequest::GetPrompt { name, .. } => ("prompts/get", Some(name.as_str())),
                };
                Self {
                    method,
                    target,
                    server,
                    counted_as: server,
                }
            }
            Target::Local => return None,
        })
    }

    fn span_name(&self) -> String {
        match self.target {
            Some(target) => format!("{} {target}", self.method),
            None => self.method.to_owned(),
        }
    }
}

/// The word for a failure in `error.type`.
fn error_type(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Tool => conventions::TOOL_ERROR,
        kind => kind.as_str(),
    }
}

impl<H: ToolHost> Trace<H> {
    async fn observed(
        &self,
        operation: Operation<'_>,
        request: &Request,
        run: &RunContext,
    ) -> ToolResult {
        let transport = self.gateway.transport_of(operation.server);
        let mut span = self
            .telemetry
            .span(run.trace(), operation.span_name(), SpanKind::Client);
        if span.is_recorded() {
            self.describe(&mut span, &operation, request, run);
            if let Some(transport) = transport {
                span.set(conventions::TRANSPORT, transport);
            }
        }
        // Without spans and without a trace of the client, nothing is passed on.
        if self.telemetry.records_spans() || run.trace().is_some() {
            run.set_trace(span.context().clone());
        }
        let mut open = Open {
            layer: self,
            operation: &operation,
            transport,
            run,
            span: Some(span),
            error: Some(FailureKind::Cancelled.as_str()),
        };
        let result = self.inner.handle(request, run).await;
        open.error = result
            .as_ref()
            .err()
            .map(|failure| error_type(failure.kind));
        if let (Ok(value), Some(span)) = (&result, &mut open.span)
            && span.is_recorded()
            && let Some(shown) = self.telemetry.shown(value.get())
        {
            span.set(conventions::RESULT, shown);
        }
        drop(open);
        result
    }

    fn describe(
        &self,
        span: &mut Span,
        operation: &Operation<'_>,
        request: &Request,
        run: &RunContext,
    ) {
        span.set(conventions::METHOD, operation.method);
        span.set(conventions::SERVER, operation.server.to_owned());
        span.set(conventions::RUN, run.id().to_string());
        match (request.target(), operation.target) {
            (Target::Tool { tool, args }, _) => {
                span.set(conventions::OPERATION, conventions::EXECUTE_TOOL);
                span.set(conventions::TOOL, tool.to_owned());
                if let Some(shown) = self.telemetry.shown(args.get()) {
                    span.set(conventions::ARGUMENTS, shown);
                }
            }
            (_, Some(prompt)) => span.set(conventions::PROMPT, prompt.to_owned()),
            (_, None) => {}
        }
    }
}

/// A request that is under way. Dropping it counts how it ended.
struct Open<'a, H> {
    layer: &'a Trace<H>,
    operation: &'a Operation<'a>,
    transport: Option<&'static str>,
    run: &'a RunContext,
    span: Option<Span>,
    error: Option<&'static str>,
}

impl<H> Drop for Open<'_, H> {
    fn drop(&mut self) {
        let Some(mut span) = self.span.take() else {
            return;
        };
        let (run, notes, now) = (self.run, self.run.notes(), Instant::now());
        let approved = notes.approved_at().unwrap_or(now);
        let dispatched = run.dispatched_at().unwrap_or(approved);
        let person_wait = notes.is_asked().then(|| approved - span.began());
        let server_wait = notes.server_wait();
        let guards: Vec<(String, &str)> = notes
            .guards()
            .into_iter()
            .map(|note| (note.guard, note.verdict.as_str()))
            .collect();
        let end = CallEnd {
            transport: self.transport,
            error: self.error,
            took: now.saturating_duration_since(dispatched),
            attempts: notes.attempts(),
            is_cached: notes.is_cached(),
            slot_wait: dispatched.saturating_duration_since(approved) + server_wait,
            person_wait,
            principal: run.principal().as_str(),
            guards: &guards,
            speculation: match (run.is_speculative(), run.took_speculated()) {
                (true, _) => Speculated::Ahead,
                (false, true) => Speculated::Taken,
                (false, false) => Speculated::No,
            },
            cost: self
                .layer
                .costs
                .of(self.operation.counted_as)
                .filter(|_| notes.attempts() > 0),
            ..CallEnd::new(self.operation.method, self.operation.counted_as)
        };
        for anomaly in self.layer.telemetry.call_ended(&end) {
            self.layer.suspend(&anomaly);
        }
        if person_wait.is_some_and(|waited| waited >= SHOWN_WAIT) {
            span.add_part(conventions::WAIT_PERSON, span.began(), approved);
        }
        if end.slot_wait >= SHOWN_WAIT {
            // The limits of the server come after the permit of the run.
            span.add_part(conventions::WAIT_SLOT, approved, dispatched + server_wait);
        }
        if span.is_recorded() {
            if end.attempts > 1 {
                span.set(conventions::ATTEMPTS, i64::from(end.attempts));
            }
            if end.is_cached {
                span.set(conventions::CACHED, true);
            }
            match end.speculation {
                Speculated::No => {}
                Speculated::Ahead => span.set(conventions::SPECULATED, "ahead"),
                Speculated::Taken => span.set(conventions::SPECULATED, "taken"),
            }
            if let Some(error) = end.error {
                span.set_error(error);
            }
        }
        span.end();
    }
}

impl<H: ToolHost> ToolHost for Trace<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if let Some(operation) = Operation::of(request) {
            return Box::pin(self.observed(operation, request, run));
        }
        if !matches!(request, Request::Search { .. }) || run.trace().is_none() {
            return self.inner.handle(request, run);
        }
        Box::pin(async move {
            let name = conventions::SEARCH_SPAN;
            let mut span = self.telemetry.span(run.trace(), name, SpanKind::Internal);
            let result = self.inner.handle(request, run).await;
            if let Err(failure) = &result {
                span.set_error(error_type(failure.kind));
            }
            span.end();
            result
        })
    }
}
