//! Logs of the server on standard error. They may contain texts of scripts, clients and servers, so
//! they are cut, escaped and scrubbed: an event is one line, whatever its fields contain.

mod export;
mod send_only;

use std::fmt::Write as _;
use std::future::Future;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::SystemTime;

use pml_gateway::Secrets;
use pml_protocol::{RunContext, TraceContext};
use pml_scrub::{PlaceholderMap, Scrubber};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::log_context::LogContext;
use export::WithIds;

pub use export::LogExport;
pub use send_only::send_to;

/// Lines that wait to be written. Further lines are dropped.
const QUEUE_LINES: usize = 1_024;
/// Bytes of all lines that wait to be written. Further lines are dropped.
const QUEUE_BYTES: usize = 1024 * 1024;
/// The longest line, in bytes; the rest is cut.
const MAX_LINE: usize = 8 * 1024;
/// Bytes beyond [`MAX_LINE`] that are scrubbed and not shown, so that no value is cut in half before it
/// is found.
const MARGIN: usize = 2 * 1024;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

/// Installs the process-wide `tracing` subscriber. A program that already has one keeps it. Libraries
/// log addresses and errors too, so `secrets` are replaced in every line.
///
/// # Errors
///
/// The thread that writes the lines cannot be started.
pub fn init(
    format: Format,
    level: Level,
    scrubber: Arc<Scrubber>,
    secrets: Secrets,
) -> io::Result<LogExport> {
    let sent = LogExport::default();
    let writer = ScrubbingWriter::start(format, scrubber, secrets, sent.clone())?;
    let registry = tracing_subscriber::registry().with(targets(level));
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let _ = match format {
        Format::Text => {
            let event = tracing_subscriber::fmt::format().with_ansi(false);
            let lines = lines.event_format(WithIds::new(event, format));
            registry.with(lines.with_ansi(false)).try_init()
        }
        Format::Json => {
            let event = tracing_subscriber::fmt::format().json().flatten_event(true);
            let lines = lines.event_format(WithIds::new(event, format));
            registry
                .with(lines.fmt_fields(JsonFields::new()))
                .try_init()
        }
    };
    Ok(sent)
}

/// What is logged: other crates log warnings and errors only, unless the level is `trace`.
fn targets(level: Level) -> Targets {
    let libraries = match level {
        Level::TRACE => level,
        level => level.min(Level::WARN),
    };
    let ours = [
        "pml",
        "pml_approvals",
        "pml_audit",
        "pml_credentials",
        "pml_gateway",
        "pml_hosts",
        "pml_policy",
        "pml_reply",
        "pml_runtime",
        "pml_search",
        "pml_server",
        "pml_store",
        "pml_telemetry",
        "pml_workflow",
    ];
    Targets::new()
        .with_default(libraries)
        .with_targets(ours.map(|target| (target, level)))
}

/// Does `work`; its lines have the ids of the run.
pub async fn in_run<T>(run: &RunContext, work: impl Future<Output = T>) -> T {
    LogContext::of_run(run).scope(work).await
}

/// Sends lines to a thread that scrubs and writes them. A client that does not read our standard error
/// must not block the server, so lines that do not fit into the queue are dropped and counted.
#[derive(Clone)]
struct ScrubbingWriter {
    lines: SyncSender<QueuedEvent>,
    queue: Arc<Queue>,
    secrets: Secrets,
    export: LogExport,
    /// Of the event that is written.
    level: Level,
}

/// What waits in the queue.
#[derive(Default)]
struct Queue {
    bytes: AtomicUsize,
    dropped: AtomicUsize,
}

impl ScrubbingWriter {
    fn start(
        format: Format,
        scrubber: Arc<Scrubber>,
        secrets: Secrets,
        export: LogExport,
    ) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<QueuedEvent>(QUEUE_LINES);
        let mut placeholders = PlaceholderMap::new(scrubber);
        let queue = Arc::<Queue>::default();
        let counts = queue.clone();
        let known = secrets.clone();
        let sent = export.clone();
        std::thread::Builder::new()
            .name("pml-log".to_owned())
            .spawn(move || {
                for event in waiting {
                    // A line that makes the scrubber panic is lost, and the log goes on.
                    let scrub = AssertUnwindSafe(|| {
                        let text = secrets.hide_for_people(event.text.as_str());
                        placeholders.scrub_text(&text, None)
                    });
                    let line = match catch_unwind(scrub) {
                        Ok(Ok(scrubbed)) => event.one_line(format, &scrubbed),
                        Ok(Err(refusal)) => refusal.to_string(),
                        Err(_panic) => "a log line could not be scrubbed".to_owned(),
                    };
                    counts.bytes.fetch_sub(event.text.len(), Ordering::Relaxed);
                    sent.send(&event, &line);
                    let dropped = counts.dropped.swap(0, Ordering::Relaxed);
                    let mut written = line + "\n";
                    if dropped > 0 {
                        written.push_str(&dropped_line(format, dropped));
                    }
                    let _ = io::stderr().write_all(written.as_bytes());
                }
            })?;
        Ok(Self {
            lines,
            queue,
            secrets: known,
            export,
            level: Level::INFO,
        })
    }

    /// Queues an event, or counts it as dropped.
    fn queue(&self, event: QueuedEvent) {
        let size = event.text.len();
        let before = self.queue.bytes.fetch_add(size, Ordering::Relaxed);
        if before + size > QUEUE_BYTES || self.lines.try_send(event).is_err() {
            self.queue.bytes.fetch_sub(size, Ordering::Relaxed);
            self.queue.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn dropped_line(format: Format, count: usize) -> String {
    match format {
        Format::Text => format!("{count} log lines were dropped: they came too fast\n"),
        Format::Json => format!("{{\"message\":\"log lines were dropped\",\"count\":{count}}}\n"),
    }
}

/// An event that waits to be scrubbed.
struct QueuedEvent {
    /// Its beginning, with a margin.
    text: String,
    /// Bytes at the end of `text` that are not shown.
    margin: usize,
    /// Bytes of the whole event.
    bytes: usize,
    level: Level,
    time: SystemTime,
    trace: Option<TraceContext>,
}

impl QueuedEvent {
    fn new(event: &[u8], longest_secret: usize) -> Self {
        let event = event.strip_suffix(b"\n").unwrap_or(event);
        let margin = MARGIN + longest_secret;
        let kept = event.len().min(MAX_LINE + margin);
        Self {
            // The cut may split a character, which becomes U+FFFD.
            text: String::from_utf8_lossy(&event[..kept]).into_owned(),
            margin: if kept < event.len() { margin } else { 0 },
            bytes: event.len(),
            level: Level::INFO,
            time: SystemTime::now(),
            trace: None,
        }
    }

    /// The event as one line of printable characters, from its scrubbed text, cut to [`MAX_LINE`]
    /// bytes.
    fn one_line(&self, format: Format, scrubbed: &str) -> String {
        let scrubbed = scrubbed.trim_end_matches('\n');
        let end = scrubbed.len().saturating_sub(self.margin).min(MAX_LINE);
        let shown = &scrubbed[..scrubbed.floor_char_boundary(end)];
        let is_cut = shown.len() < scrubbed.len();
        match (format, is_cut) {
            (_, false) => escaped(shown, format),
            (Format::Text, true) => {
                let more = self.bytes.saturating_sub(shown.len());
                format!("{} … {more} more bytes", escaped(shown, format))
            }
            // The beginning of an object is not JSON, so it becomes a string in another object.
            (Format::Json, true) => {
                let message = "the line was too long; `cut` has its beginning";
                let bytes = self.bytes;
                let line = serde_json::json!({ "message": message, "bytes": bytes, "cut": shown });
                escaped(&line.to_string(), format)
            }
        }
    }
}

/// The text with characters escaped that end a line, move the cursor or reorder what a terminal shows.
/// Only such characters stand outside of strings in neither format, so JSON stays JSON.
fn escaped(text: &str, format: Format) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (pml_gateway::is_unsafe_to_show(c), format) {
            (false, _) => out.push(c),
            (true, Format::Text) => out.extend(c.escape_unicode()),
            (true, Format::Json) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out
}

impl<'a> MakeWriter<'a> for ScrubbingWriter {
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

impl Write for ScrubbingWriter {
    /// `tracing_subscriber` writes each event with one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let queued = QueuedEvent {
            level: self.level,
            trace: self.export.trace_of_event(),
            ..QueuedEvent::new(event, self.secrets.longest())
        };
        self.queue(queued);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of an event in which nothing is private.
    fn one_line(format: Format, event: &[u8]) -> String {
        let event = QueuedEvent::new(event, 0);
        event.one_line(format, &event.text)
    }

    #[test]
    fn no_part_of_a_value_is_shown_where_a_line_is_cut() {
        let value = "jane.doe@acme-corp.com";
        let padding = "x ".repeat((MAX_LINE - 10) / 2);
        let event = QueuedEvent::new(format!("{padding}{value} and more {padding}").as_bytes(), 0);
        let scrubbed = event.text.replace(value, "[EMAIL_1]");
        let line = event.one_line(Format::Text, &scrubbed);
        assert!(!line.contains("jane"), "{line}");
        let short = QueuedEvent::new(b"short", 64);
        assert_eq!(short.one_line(Format::Text, &short.text), "short");
    }

    #[test]
    fn a_field_cannot_forge_a_log_line() {
        let event =
            "INFO tool=a\n2026-01-01T00:00:00Z INFO pml_server: FORGED\u{1b}[31m\u{202e}\u{2028}\n";
        let line = one_line(Format::Text, event.as_bytes());
        assert!(
            !line.contains(['\n', '\u{1b}', '\u{202e}', '\u{2028}']),
            "{line}"
        );
        assert!(line.contains(r"a\u{a}2026"), "{line}");
        let event = "{\"tool\":\"a\u{202e}b\"}\n";
        let line = one_line(Format::Json, event.as_bytes());
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["tool"], "a\u{202e}b");
        assert!(line.is_ascii(), "{line}");
    }

    #[test]
    fn a_long_field_costs_one_bounded_line() {
        for format in [Format::Text, Format::Json] {
            let event = format!("{{\"tool\":\"{}\"}}\n", "é".repeat(4 << 20));
            let line = one_line(format, event.as_bytes());
            assert!(line.len() < 4 * MAX_LINE, "{} bytes", line.len());
            if format == Format::Json {
                serde_json::from_str::<serde_json::Value>(&line).unwrap();
            }
        }
    }

    #[test]
    fn the_queue_counts_bytes() {
        // No thread reads this queue.
        let (lines, _waiting) = sync_channel(QUEUE_LINES);
        let writer = ScrubbingWriter {
            lines,
            queue: Arc::default(),
            secrets: Secrets::default(),
            export: LogExport::default(),
            level: Level::INFO,
        };
        for _ in 0..QUEUE_LINES {
            writer.queue(QueuedEvent::new("x".repeat(MAX_LINE).as_bytes(), 0));
        }
        assert!(writer.queue.bytes.load(Ordering::Relaxed) <= QUEUE_BYTES);
        assert!(writer.queue.dropped.load(Ordering::Relaxed) > 0);
    }
}
