//! How a run ended. A reply to a client is made from this (crate `reply`).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::flow::LabelReport;
use crate::hint::Hint;
use crate::log::LogLine;
use crate::run_id::RunId;

/// The end of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The id of a durable run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Whether the script ran to its end.
    pub ok: bool,
    /// The result as JSON; `None` when the script returned nothing that JSON can express.
    pub result: Option<Box<RawValue>>,
    /// The console, in order.
    pub logs: Vec<LogLine>,
    /// The tool calls, in the order in which they were made.
    pub calls: Vec<CallRecord>,
    /// Values that scrubbing replaced, by kind.
    pub redactions: BTreeMap<String, u32>,
    /// Set instead of a result that is over the output limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// What the run has read that is untrusted or private, and where it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelReport>,
    /// Whether a model reads only the shape and the size of the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// What the run used.
    pub stats: Stats,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

/// One tool call of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The id that the script called, whether there is such a tool or not.
    pub tool: String,
    /// Milliseconds from dispatch to answer. Approval and the wait for a concurrency permit do not
    /// count; rate limits and the start of a server do.
    pub ms: f64,
    /// Whether the tool answered with a value.
    pub ok: bool,
}

/// A result that is over the output limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncated {
    /// Its size as JSON.
    pub bytes: u64,
}

/// What a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Wall-clock time in milliseconds.
    pub wall_ms: f64,
    /// CPU time of all threads of the worker, in milliseconds.
    pub cpu_ms: f64,
    /// V8's heap at the end of the run.
    pub heap_bytes: u64,
    /// The most memory that the worker held.
    pub peak_rss_bytes: u64,
    /// The calls that were started before the script made them; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculationStats>,
}

/// What became of the calls that were started before the script made them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeculationStats {
    /// Calls that were started.
    pub started: u32,
    /// Those whose result a call of the script took.
    pub taken: u32,
    /// Those whose result was dropped: failed, outdated, or never asked for.
    pub dropped: u32,
}

/// Milliseconds, rounded to the hundredth: the rest is noise, and a model pays for every digit.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

/// Why a run has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// What ended the run.
    pub kind: ErrorKind,
    /// One sentence, or the message of what the script threw.
    pub message: String,
    /// The line in the script as it was written, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// A code frame: the lines around the place, with a caret under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The JavaScript stack, its places mapped to the script as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// One sentence that helps the script's author, most often a model, to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl RunError {
    /// An error without a place in the script, with the hint of its kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            line: None,
            column: None,
            frame: None,
            stack: None,
            hint: None,
        }
        .with_hint(Hint::for_run(kind))
    }

    /// The same error with this hint.
    #[must_use]
    pub fn with_hint(self, hint: Hint) -> Self {
        Self {
            hint: hint.text().map(str::to_owned),
            ..self
        }
    }
}

/// What ended a run. Exit codes and the outcome name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The text is not a script.
    Syntax,
    /// The type checker found a mistake; nothing was run.
    Type,
    /// The script threw.
    Runtime,
    /// The time limit.
    Timeout,
    /// The CPU-time limit.
    Cpu,
    /// A memory limit, of the heap or of array buffers.
    Memory,
    /// Too many tool calls.
    Calls,
    /// Too large a result, or too much logged.
    Output,
    /// A tool failed and the script did not catch it.
    Tool,
    /// The script requested something that it may not use.
    Denied,
    /// The run waits for an approval, and goes on when it is resumed.
    Waiting,
    /// The outcome of a call is unknown: a person has to settle it before the run goes on.
    Unknown,
    /// The run was cancelled.
    Cancelled,
    /// A fault of pml or of the machine, not of the script.
    Internal,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "syntax",
            Self::Type => "type",
            Self::Runtime => "runtime",
            Self::Timeout => "timeout",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Calls => "calls",
            Self::Output => "output",
            Self::Tool => "tool",
            Self::Denied => "denied",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        })
    }
}
