//! Log lines of a command that prints none: they are sent to a collector, and written nowhere.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use pml_gateway::Secrets;
use pml_scrub::{PlaceholderMap, Scrubber};
use pml_telemetry::Telemetry;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::export::{LogExport, WithIds};
use super::{Format, QueuedEvent, targets};
use crate::log_context::LogContext;

/// Installs a process-wide `tracing` subscriber that sends every line to the collector of `telemetry`,
/// scrubbed. Without a collector for logs, and in a program that has a subscriber, nothing happens.
pub fn send_to(telemetry: &Telemetry, scrubber: Arc<Scrubber>, secrets: Secrets) {
    if !telemetry.sends_logs() {
        return;
    }
    let export = LogExport::default();
    export.send_to(telemetry);
    let writer = SendingWriter {
        export,
        placeholders: Arc::new(Mutex::new(PlaceholderMap::new(scrubber))),
        secrets,
        level: Level::INFO,
    };
    let event = tracing_subscriber::fmt::format().with_ansi(false);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .event_format(WithIds::new(event, Format::Text))
        .with_ansi(false);
    let registry = tracing_subscriber::registry().with(targets(Level::INFO));
    let _ = registry.with(lines).try_init();
}

/// Scrubs a line and hands it to the queue of the collector. A command logs a few lines, so that they are
/// scrubbed where they are written: none is lost at its end.
#[derive(Clone)]
struct SendingWriter {
    export: LogExport,
    placeholders: Arc<Mutex<PlaceholderMap>>,
    secrets: Secrets,
    /// Of the event that is written.
    level: Level,
}

impl<'a> MakeWriter<'a> for SendingWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Self {
        Self {
            level: *event.level(),
            ..self.clone()
        }
    }
}

impl Write for SendingWriter {
    /// `tracing_subscriber` writes each event with one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let trace = LogContext::current().and_then(|ids| ids.trace().cloned());
        let queued = QueuedEvent {
            level: self.level,
            trace,
            ..QueuedEvent::new(event, self.secrets.longest())
        };
        let text = self.secrets.hide_for_people(queued.text.as_str());
        let placeholders = self.placeholders.lock();
        let mut placeholders = placeholders.unwrap_or_else(PoisonError::into_inner);
        let line = match placeholders.scrub_text(&text, None) {
            Ok(scrubbed) => queued.one_line(Format::Text, &scrubbed),
            Err(refusal) => refusal.to_string(),
        };
        self.export.send(&queued, &line);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
