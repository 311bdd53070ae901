//! Logs of the server on standard error. They may contain texts of scripts and servers, so they are
//! scrubbed like replies.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use pml_gateway::Secrets;
use pml_scrub::{PlaceholderMap, Scrubber};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Lines that wait to be written. Further lines are dropped.
const QUEUE_LINES: usize = 1_024;

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
) -> io::Result<()> {
    let writer = ScrubbingWriter::start(scrubber, secrets)?;
    // Other crates log warnings and errors only, unless the level is `trace`.
    let libraries = level.min(Level::WARN);
    let libraries = if level == Level::TRACE {
        level
    } else {
        libraries
    };
    let ours = [
        "pml",
        "pml_gateway",
        "pml_hosts",
        "pml_reply",
        "pml_runtime",
        "pml_search",
        "pml_server",
    ];
    let targets = Targets::new()
        .with_default(libraries)
        .with_targets(ours.map(|target| (target, level)));
    let registry = tracing_subscriber::registry().with(targets);
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let _ = match format {
        Format::Text => registry.with(lines.with_ansi(false)).try_init(),
        Format::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    };
    Ok(())
}

/// Sends lines to a thread that scrubs and writes them. A client that does not read our standard error
/// must not block the server, so lines that do not fit into the queue are dropped.
#[derive(Clone)]
struct ScrubbingWriter {
    lines: SyncSender<Vec<u8>>,
}

impl ScrubbingWriter {
    fn start(scrubber: Arc<Scrubber>, secrets: Secrets) -> io::Result<Self> {
        let (lines, queue) = sync_channel::<Vec<u8>>(QUEUE_LINES);
        let mut placeholders = PlaceholderMap::new(scrubber);
        std::thread::Builder::new()
            .name("pml-log".to_owned())
            .spawn(move || {
                for line in queue {
                    let text = secrets.hide(String::from_utf8_lossy(&line));
                    let scrubbed = match placeholders.scrub_text(&text, None) {
                        Ok(scrubbed) => scrubbed.into_inner(),
                        Err(refusal) => format!("{refusal}\n"),
                    };
                    let _ = io::stderr().write_all(scrubbed.as_bytes());
                }
            })?;
        Ok(Self { lines })
    }
}

impl<'a> MakeWriter<'a> for ScrubbingWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for ScrubbingWriter {
    /// `tracing_subscriber` writes each line with one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.lines.try_send(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
