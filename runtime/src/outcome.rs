//! What a run answers: the envelope that every way into pml gives back.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use pml_ops::Level;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub ok: bool,
    /// JSON; `null` when the script left nothing that JSON has a word for.
    pub result: Option<Box<RawValue>>,
    pub logs: Vec<LogLine>,
    pub calls: Vec<CallRecord>,
    pub redactions: BTreeMap<String, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    pub stats: Stats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    pub level: Level,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    pub tool: String,
    pub ms: f64,
    pub ok: bool,
}

/// A result too large to give back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncated {
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    pub wall_ms: f64,
    pub cpu_ms: f64,
    pub heap_bytes: u64,
    pub peak_rss_bytes: u64,
}

/// Milliseconds to the hundredth: what is left is noise, and a reader pays for every digit.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    pub kind: ErrorKind,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The lines of the script around the place, with a mark under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// One sentence that helps whoever wrote the script to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl RunError {
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
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// The text is not a script.
    Syntax,
    /// A type checker found a mistake; nothing was run.
    Type,
    /// The script threw.
    Runtime,
    /// The time limit.
    Timeout,
    /// The processor-time limit.
    Cpu,
    /// A memory limit, of the heap or of array buffers.
    Memory,
    /// Too many tool calls.
    Calls,
    /// Too large a result, or too much logged.
    Output,
    /// A tool failed and the script did not catch it.
    Tool,
    /// The script asked for something it may not have.
    Denied,
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
            Self::Internal => "internal",
        })
    }
}
