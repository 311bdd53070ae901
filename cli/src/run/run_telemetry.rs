//! The telemetry of `pml run`, `pml resume` and `pml workflow run`, where it is wanted: a span of the run,
//! its metrics, and its log lines.

use std::sync::{Arc, Mutex, PoisonError};

use pml_hosts::RunSpan;
use pml_protocol::{Outcome, RunContext, TraceContext};
use pml_scrub::Scrubber;
use pml_server::log;
use pml_telemetry::Telemetry;

use crate::config::Settings;
use crate::diagnostics;

/// The telemetry of one run.
pub struct RunTelemetry {
    telemetry: Telemetry,
    /// Until the run has ended.
    span: Mutex<Option<RunSpan>>,
}

impl RunTelemetry {
    /// Begins the span of a run, below that of the process that started this one (`TRACEPARENT`).
    /// Returns it with the run as a part of it.
    pub fn begin(telemetry: Telemetry, run: RunContext) -> (Self, RunContext) {
        let parent = parent(&telemetry);
        let (span, run) = RunSpan::begin(Some(&telemetry), parent.as_ref(), run);
        let span = Mutex::new(span);
        (Self { telemetry, span }, run)
    }

    /// Where requests are observed.
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// The run has its worker.
    pub fn has_worker(&self) {
        let mut span = self.span.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(span) = &mut *span {
            span.has_worker();
        }
    }

    /// The run has ended.
    pub fn ended(&self, outcome: &Outcome) {
        let mut span = self.span.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(span) = span.take() {
            span.end(outcome);
        }
    }

    /// Sends what is left, for at most 3 seconds.
    pub async fn close(&self) {
        let span = self
            .span
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A run that has no outcome is counted as cancelled.
        drop(span);
        if !self.telemetry.shutdown().await {
            diagnostics::warning(
                "telemetry was not sent, or only a part: see that the collector runs, and that its address is right",
            );
        }
    }
}

/// The span in the environment, as build tools and test runners pass it on.
fn parent(telemetry: &Telemetry) -> Option<TraceContext> {
    let variable = |name: &str| std::env::var(name).ok();
    telemetry.incoming(
        &variable("TRACEPARENT")?,
        variable("TRACESTATE").as_deref(),
        variable("BAGGAGE").as_deref(),
    )
}

/// Starts to observe a command, where that is wanted. Its log lines are sent, too.
///
/// # Errors
///
/// The configuration or a variable of the environment is wrong.
pub fn command_telemetry(settings: &Settings) -> anyhow::Result<Option<Telemetry>> {
    let secrets = settings.servers.secrets();
    let telemetry = settings
        .telemetry
        .start_for_command(&settings.scrub, secrets)?;
    if let Some(telemetry) = &telemetry {
        let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
        log::send_to(telemetry, scrubber, secrets.clone());
    }
    Ok(telemetry)
}
