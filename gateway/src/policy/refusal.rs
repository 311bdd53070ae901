//! The refusal of a call by the policy.

use std::time::Duration;

use pml_guards::GuardName;
use serde::Serialize;

/// Why a call was not made, in the shape that a script sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The kind of rule that refused it.
    pub kind: RefusalKind,
    /// What was refused, by which rule, and what to do about it, in one sentence.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// How much later, in milliseconds, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The guard that shows this rule.
    #[serde(skip)]
    pub guard: Option<GuardName>,
}

/// The kind of rule that refused a call. The names are those of a run's `error.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalKind {
    /// The operator denies this tool.
    Denied,
    /// Too many calls: a budget is spent, or a rate or queue limit is reached.
    Calls,
    /// The run has no time left for calls.
    Timeout,
    /// The circuit breaker of the server is open.
    Tool,
}

impl RefusalKind {
    /// The name in scripts and logs.
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
    pub fn permanent(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: false,
            retry_after_ms: None,
            guard: None,
        }
    }

    /// The same refusal, by a rule that a guard shows.
    #[must_use]
    pub fn of(self, guard: GuardName) -> Self {
        Self {
            guard: Some(guard),
            ..self
        }
    }

    /// A refusal that ends by itself, after `retry_after` if that is known.
    pub fn transient(
        kind: RefusalKind,
        message: impl Into<String>,
        retry_after: Option<Duration>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: true,
            retry_after_ms: retry_after.map(whole_millis),
            guard: None,
        }
    }
}

/// Rounds up: a caller that retries a fraction too early is refused again.
fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_sees_camel_case_and_the_kinds_of_a_run() {
        let refusal = Refusal::transient(
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
    fn a_permanent_refusal_names_no_time() {
        let refusal = Refusal::permanent(RefusalKind::Denied, "no");
        let json = serde_json::to_value(&refusal).unwrap();
        assert_eq!(json.get("retryAfterMs"), None);
        assert_eq!(json["retryable"], false);
    }
}
