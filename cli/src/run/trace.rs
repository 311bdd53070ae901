//! `--trace`: a timeline of the run in Chrome's trace format, for chrome://tracing or Perfetto.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use pml_protocol::Outcome;
use pml_runtime::Event;
use serde::Serialize;

/// A complete event on one lane. Times are microseconds since the command began.
#[derive(Serialize)]
struct Span {
    name: String,
    cat: &'static str,
    ph: &'static str,
    ts: u64,
    dur: u64,
    pid: u32,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<serde_json::Value>,
}

pub struct Trace {
    file: File,
    zero: Instant,
    started: Option<u64>,
    spans: Vec<Span>,
    calls: HashMap<usize, u64>,
    /// The lane of the next call that was made ahead of time.
    next_lane: usize,
}

/// Lane 0 is the run; each tool call has a lane of its own, so that parallel calls show.
const RUN_LANE: usize = 0;
/// Calls that were made ahead of time have lanes below all others: a run has fewer calls than this.
const SPECULATION_LANES: usize = 1_000_000;
/// Their category.
const SPECULATION: &str = "speculation";

impl Trace {
    /// Opens the file, so that a path that cannot be written fails before the script runs.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path)
            .with_context(|| format!("the trace file {} cannot be written", path.display()))?;
        Ok(Self {
            file,
            zero: Instant::now(),
            started: None,
            spans: Vec::new(),
            calls: HashMap::new(),
            next_lane: SPECULATION_LANES,
        })
    }

    fn now(&self) -> u64 {
        self.at(Instant::now())
    }

    fn at(&self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.zero);
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    pub fn note(&mut self, event: &Event<'_>) {
        let now = self.now();
        match event {
            Event::Started => {
                self.started = Some(now);
                self.span("start", "worker", 0..now, RUN_LANE, None);
            }
            Event::Parsed { micros } => {
                // Both messages may have been read at once: parsing began after the start.
                let began = now.saturating_sub(*micros).max(self.started.unwrap_or(0));
                let ended = began.saturating_add(*micros);
                self.span("transpile", "worker", began..ended, RUN_LANE, None);
            }
            Event::Log(_) => {}
            Event::Speculated(call) => {
                let lane = self.next_lane;
                self.next_lane += 1;
                let began = self.at(call.began);
                let ended = call.ended.map_or(now, |ended| self.at(ended));
                let details = serde_json::json!({ "taken": call.is_taken });
                self.span(
                    &call.tool,
                    SPECULATION,
                    began..ended.max(began),
                    lane,
                    Some(details),
                );
            }
            Event::CallStarted { index, .. } => {
                self.calls.insert(*index, now);
            }
            Event::CallEnded { index, call } => {
                let began = self.calls.remove(index).unwrap_or(now);
                let details = serde_json::json!({ "ok": call.ok, "ms": call.ms });
                self.span(&call.tool, "call", began..now, index + 1, Some(details));
            }
        }
    }

    /// Adds the scrubbing, which started then and has just ended.
    pub fn scrubbed(&mut self, started: Instant) {
        let now = self.now();
        let took = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let began = now.saturating_sub(took);
        self.span("scrub", "broker", began..now, RUN_LANE, None);
    }

    fn span(
        &mut self,
        name: &str,
        cat: &'static str,
        time: Range<u64>,
        tid: usize,
        args: Option<serde_json::Value>,
    ) {
        self.spans.push(Span {
            name: name.to_owned(),
            cat,
            ph: "X",
            ts: time.start,
            dur: time.end - time.start,
            pid: std::process::id(),
            tid,
            args,
        });
    }

    /// Writes the file. `scrub` makes the tool ids fit to show.
    pub fn finish(
        mut self,
        outcome: &Outcome,
        scrub: impl Fn(&str) -> String,
    ) -> anyhow::Result<()> {
        let now = self.now();
        let is_call = |span: &&mut Span| matches!(span.cat, "call" | SPECULATION);
        for call in self.spans.iter_mut().filter(is_call) {
            call.name = scrub(&call.name);
        }
        let began = self.started.unwrap_or(now);
        let details = serde_json::json!({ "ok": outcome.ok, "stats": outcome.stats });
        self.span("run", "worker", began..now, RUN_LANE, Some(details));
        let document = serde_json::json!({ "traceEvents": self.spans, "displayTimeUnit": "ms" });
        let mut out = BufWriter::new(&self.file);
        serde_json::to_writer(&mut out, &document)
            .and_then(|()| out.flush().map_err(serde_json::Error::io))
            .context("the trace could not be written")
    }
}
