//! Structured lines on standard error. What a script or a server said may be in them, so they
//! are scrubbed like everything else that leaves.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use pml_scrub::{PlaceholderMap, Scrubber};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Lines that wait for somebody to read them.
const QUEUE: usize = 1_024;

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// Begins to log. A program that already logs keeps its own way.
pub fn init(format: Format, level: Level, scrubber: Arc<Scrubber>) -> io::Result<()> {
    let writer = Scrubbing::start(scrubber)?;
    // Libraries speak up only when something is wrong, or when everything is wanted.
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

/// Lines on their way out, to a thread that scrubs and writes them. A client that does not read our
/// standard error must not stop us: what does not fit is dropped.
#[derive(Clone)]
struct Scrubbing {
    lines: SyncSender<Vec<u8>>,
}

impl Scrubbing {
    fn start(scrubber: Arc<Scrubber>) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<Vec<u8>>(QUEUE);
        let mut placeholders = PlaceholderMap::new(scrubber);
        std::thread::Builder::new()
            .name("pml-log".to_owned())
            .spawn(move || {
                for line in waiting {
                    let text = String::from_utf8_lossy(&line);
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

impl<'a> MakeWriter<'a> for Scrubbing {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Scrubbing {
    /// Gets one whole line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.lines.try_send(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
