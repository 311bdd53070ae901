//! The run of a script, as telemetry sees it.

use std::time::Instant;

use pml_protocol::{Outcome, RunContext, TraceContext};
use pml_telemetry::{Span, SpanKind, Telemetry, conventions};

/// The run of a script: a span, and values of the metrics. Dropping it before [`RunSpan::end`] counts the
/// run as cancelled.
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
        let mut span = telemetry.span(parent, conventions::RUN_SPAN, SpanKind::Internal);
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
        let Some(mut span) = self.span.take() else {
            return;
        };
        let kind = outcome.error.as_ref().map(|error| error.kind.to_string());
        let metrics = self.telemetry.metrics();
        metrics.run_ended(kind.as_deref().unwrap_or("ok"), self.began.elapsed());
        let calls = i64::try_from(outcome.calls.len()).unwrap_or(i64::MAX);
        span.set(conventions::CALLS, calls);
        span.set(conventions::CPU, outcome.stats.cpu_ms / 1_000.0);
        if let Some(kind) = kind {
            span.set_error(kind);
        }
        span.end();
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        if self.span.is_some() {
            let took = self.began.elapsed();
            self.telemetry.metrics().run_ended("cancelled", took);
        }
    }
}
