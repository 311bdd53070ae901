//! The error of a call, in the shape that a script sees.

use std::time::Duration;

use pml_guards::{Blocked, GuardName};
use pml_policy::lock::Quarantine;
use serde::Serialize;

use crate::policy::{Refusal, RefusalKind};
use crate::secrets::Secrets;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct CallError {
    /// The kind of failure.
    pub kind: CallErrorKind,
    /// What went wrong and what to do next, in one sentence.
    pub message: String,
    /// The id as the script wrote it.
    pub tool: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// When it may succeed, in milliseconds, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The guard that blocked the call, or that shows the rule which refused it.
    #[serde(skip)]
    pub(crate) guard: Option<GuardName>,
    #[serde(skip)]
    pub(crate) challenge: Option<Box<str>>,
}

/// The kind of failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallErrorKind {
    /// There is no such tool.
    Unknown,
    /// The arguments do not fit the tool's input schema; nothing was sent.
    Arguments,
    /// The policy of the operator denies it.
    Denied,
    /// A budget, rate or queue limit is reached.
    Calls,
    /// The server cannot be started or reached, or its circuit breaker is open.
    Unavailable,
    /// No response within the time limit.
    Timeout,
    /// The run ended.
    Cancelled,
    /// The tool ran and reported an error.
    Tool,
    /// The result is too large.
    Output,
    /// The connection broke, or the response was not valid.
    Protocol,
    /// A fault of pml, such as a store that cannot be written; nothing was sent.
    Internal,
    /// The tool has another version than the one that the call asks for, and its arguments do not fit,
    /// or there is no such version; nothing was sent.
    Version,
}

impl CallErrorKind {
    /// The name that scripts see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Arguments => "arguments",
            Self::Denied => "denied",
            Self::Calls => "calls",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Tool => "tool",
            Self::Output => "output",
            Self::Protocol => "protocol",
            Self::Internal => "internal",
            Self::Version => "version",
        }
    }
}

impl CallError {
    /// An error that the same call would get again. `tool` is the id as the script wrote it.
    pub fn permanent(kind: CallErrorKind, tool: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            tool: tool.to_owned(),
            retryable: false,
            retry_after_ms: None,
            guard: None,
            challenge: None,
        }
    }

    /// A guard does not let the call pass.
    pub(crate) fn blocked(id: &str, blocked: &Blocked) -> Self {
        let Blocked { guard, reason } = blocked;
        let message =
            format!("`{id}` was not called: the guard `{guard}` blocks it, because {reason}");
        Self::permanent(CallErrorKind::Denied, id, message).by(*guard)
    }

    fn by(self, guard: GuardName) -> Self {
        Self {
            guard: Some(guard),
            ..self
        }
    }

    /// Whether a guard blocked the call or withholds its answer.
    pub fn is_blocked_by_guard(&self) -> bool {
        self.guard
            .is_some_and(|guard| guard.configured_by().is_none())
            && matches!(self.kind, CallErrorKind::Denied | CallErrorKind::Output)
    }

    /// A guard does not let the answer pass.
    pub(crate) fn withheld(id: &str, blocked: &Blocked) -> Self {
        let Blocked { guard, reason } = blocked;
        let kind = match guard {
            GuardName::Network => CallErrorKind::Denied,
            _ => CallErrorKind::Output,
        };
        let message = format!(
            "`{id}` was called, and the guard `{guard}` withholds its answer, because {reason}"
        );
        Self::permanent(kind, id, message).by(*guard)
    }

    /// The tool or its server is not as the lock file pins it.
    pub(crate) fn quarantined(id: &str, quarantine: Quarantine) -> Self {
        let name = match quarantine {
            Quarantine::NewTool | Quarantine::Definition => id,
            Quarantine::NewServer | Quarantine::Identity | Quarantine::Instructions => {
                id.split(':').next().unwrap_or(id)
            }
        };
        let message = format!(
            "`{id}` {quarantine}, so it is not used: look at `pml lock diff {name}`, then run `pml lock accept {name}`"
        );
        Self::permanent(CallErrorKind::Denied, id, message)
    }

    /// An error that may be gone later, after `retry_after` if that is known.
    pub fn transient(
        kind: CallErrorKind,
        tool: &str,
        message: impl Into<String>,
        retry_after: Option<Duration>,
    ) -> Self {
        Self {
            retryable: true,
            retry_after_ms: retry_after
                .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
            ..Self::permanent(kind, tool, message)
        }
    }

    /// The error without secrets in its texts.
    pub(crate) fn hidden(mut self, secrets: &Secrets) -> Self {
        secrets.hide_in(&mut self.message);
        secrets.hide_in(&mut self.tool);
        self
    }

    pub(crate) fn refused(tool: &str, refusal: Refusal) -> Self {
        let kind = match refusal.kind {
            RefusalKind::Denied => CallErrorKind::Denied,
            RefusalKind::Calls => CallErrorKind::Calls,
            RefusalKind::Timeout => CallErrorKind::Timeout,
            RefusalKind::Tool => CallErrorKind::Unavailable,
        };
        Self {
            kind,
            message: refusal.message,
            tool: tool.to_owned(),
            retryable: refusal.retryable,
            retry_after_ms: refusal.retry_after_ms,
            guard: refusal.guard,
            challenge: None,
        }
    }

    /// The `WWW-Authenticate` challenge of a server that requires a login or more rights, for
    /// [`LoginOptions::challenge`](crate::oauth::LoginOptions::challenge).
    pub fn login_challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }
}
