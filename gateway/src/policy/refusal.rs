//! The one answer of a policy that says no.

use std::time::Duration;

use serde::Serialize;

/// Why a call was not made, in the shape a script sees it.
///
/// `message` is one sentence: what was refused, by which rule, and what to do about it. A
/// refusal that is `retryable` may succeed later without any change to the script; then
/// `retry_after_ms` says how much later, where that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub message: String,
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// What kind of rule said no. The names are those of a run's `error.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalKind {
    /// The operator does not let scripts call this tool.
    Denied,
    /// Too many calls: a budget is spent, or a rate or queue limit is reached.
    Calls,
    /// The run has no time left for calls.
    Timeout,
    /// The server behind the tool is failing and is left alone for a while.
    Tool,
}

impl RefusalKind {
    /// The name a script and a log see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Calls => "calls",
            Self::Timeout => "timeout",
            Self::Tool => "tool",
        }
    }
}

impl Refusal {
    /// A refusal that waiting does not lift.
    pub fn lasting(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: false,
            retry_after_ms: None,
        }
    }

    /// A refusal that lifts by itself, after `retry_after` where that is known.
    pub fn passing(
        kind: RefusalKind,
        message: impl Into<String>,
        retry_after: Option<Duration>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: true,
            retry_after_ms: retry_after.map(whole_millis),
        }
    }
}

/// Rounded up, because a caller that comes back a fraction too early is refused again.
fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_sees_camel_case_and_the_kinds_of_a_run() {
        let refusal = Refusal::passing(
            RefusalKind::Calls,
            "too fast",
            Some(Duration::from_micros(1500)),
        );
        let json = serde_json::to_value(&refusal).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"kind": "calls", "message": "too fast", "retryable": true, "retryAfterMs": 2})
        );
    }

    #[test]
    fn a_lasting_refusal_names_no_time() {
        let refusal = Refusal::lasting(RefusalKind::Denied, "no");
        let json = serde_json::to_value(&refusal).unwrap();
        assert_eq!(json.get("retryAfterMs"), None);
        assert_eq!(json["retryable"], false);
    }
}
