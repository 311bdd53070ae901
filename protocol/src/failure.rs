//! Why a request has no value.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hint::Hint;

/// Why a request was not answered with a value. The script sees it as `ToolError`, or as the
/// `error` of `callTool`.
///
/// ```
/// use pml_protocol::{Failure, FailureKind};
///
/// let failure = Failure::new(FailureKind::Denied, "`mail:send` is not allowed");
/// assert_eq!(failure.kind.as_str(), "denied");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure it is: what a script branches on.
    pub kind: FailureKind,
    /// One sentence: what is wrong, where, and what to do next.
    pub message: String,
    /// Whether the very same request may succeed later.
    pub retryable: bool,
    /// How long to wait before trying again, where the server or a limiter said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What the author of the script can do about it, if the failure ends the run. `None` is the
    /// default of the request and the kind: [`Hint::for_failure`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
}

impl Failure {
    /// A failure that repeating the request does not help.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: false,
            retry_after_ms: None,
            hint: None,
        }
    }

    /// A fault of pml itself, such as JSON that cannot be written.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::new(FailureKind::Internal, error.to_string())
    }

    /// The same failure with another hint than its kind has.
    #[must_use]
    pub fn with_hint(self, hint: Hint) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }
}

/// The kinds of failure. Scripts, recordings and fixtures contain them by [`FailureKind::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The arguments do not fit the tool's input schema, or are too large; nothing was sent.
    Arguments,
    /// A budget, rate or queue limit is reached.
    Calls,
    /// The run ended before the answer came.
    Cancelled,
    /// The operator or the user does not allow it.
    Denied,
    /// A fault of pml.
    Internal,
    /// The answer, or a value to store, is too large.
    Output,
    /// The connection to the server broke, or its answer was not valid MCP.
    Protocol,
    /// The test harness refused a request of a test file.
    Test,
    /// There was no answer within the time limit.
    Timeout,
    /// The tool ran and reported an error.
    Tool,
    /// The server cannot be started or reached, or its circuit breaker is open.
    Unavailable,
    /// There is no such tool, server, prompt, resource or handle.
    Unknown,
    /// A test neither mocks the tool nor uses a recording.
    Unmocked,
    /// The recording has no answer to this request.
    Unrecorded,
    /// The tool has another version than the one that the call asks for, and its arguments do not fit.
    Version,
}

impl FailureKind {
    /// The name that scripts and recordings use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Calls => "calls",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::Internal => "internal",
            Self::Output => "output",
            Self::Protocol => "protocol",
            Self::Test => "test",
            Self::Timeout => "timeout",
            Self::Tool => "tool",
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
            Self::Unmocked => "unmocked",
            Self::Unrecorded => "unrecorded",
            Self::Version => "version",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_by_its_name() {
        for kind in [
            FailureKind::Arguments,
            FailureKind::Calls,
            FailureKind::Cancelled,
            FailureKind::Denied,
            FailureKind::Internal,
            FailureKind::Output,
            FailureKind::Protocol,
            FailureKind::Test,
            FailureKind::Timeout,
            FailureKind::Tool,
            FailureKind::Unavailable,
            FailureKind::Unknown,
            FailureKind::Unmocked,
            FailureKind::Unrecorded,
        ] {
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<FailureKind>(&written).unwrap(), kind);
        }
    }

    #[test]
    fn a_failure_without_a_hint_is_written_as_before() {
        let failure = Failure::new(FailureKind::Tool, "no");
        assert_eq!(
            serde_json::to_string(&failure).unwrap(),
            r#"{"kind":"tool","message":"no","retryable":false}"#
        );
    }
}
