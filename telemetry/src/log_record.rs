//! Lines of a log, as OTLP has them.

use std::time::SystemTime;

use pml_protocol::TraceContext;

use crate::attribute::Attribute;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// What every step does.
    Trace,
    /// What helps to find a mistake.
    Debug,
    /// What happens.
    Info,
    /// What should not happen.
    Warn,
    /// What failed.
    Error,
}

impl Severity {
    /// The number and the word of OpenTelemetry.
    pub(crate) fn otlp(self) -> (u8, &'static str) {
        match self {
            Self::Trace => (1, "TRACE"),
            Self::Debug => (5, "DEBUG"),
            Self::Info => (9, "INFO"),
            Self::Warn => (13, "WARN"),
            Self::Error => (17, "ERROR"),
        }
    }
}

/// A line of a log.
#[derive(Debug)]
pub struct LogRecord {
    /// When it happened.
    pub time: SystemTime,
    /// How important it is.
    pub severity: Severity,
    /// The text.
    pub body: String,
    /// The class of the event, such as the type of a CloudEvent.
    pub event: Option<String>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The trace that it belongs to.
    pub trace: Option<TraceContext>,
}
