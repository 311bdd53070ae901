//! What guards say about one call: for the audit event, the metrics and the log of the run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a guard did about a call. A guard that allows a call says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardVerdict {
    /// The call goes on, and its run gets a warning.
    Warn,
    /// The arguments or the answer were changed, and the call goes on.
    Repair,
    /// The call was not sent, or its answer is withheld.
    Block,
}

impl GuardVerdict {
    /// The name in events and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Repair => "repair",
            Self::Block => "block",
        }
    }
}

/// The verdict of one guard about one call. It names arguments and never contains their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardNote {
    /// The name of the guard, as in `pml.guards`.
    pub guard: String,
    /// What it did.
    pub verdict: GuardVerdict,
    /// Why, as the rest of a sentence.
    pub reason: String,
}

impl fmt::Display for GuardNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guard `{}`: {}", self.guard, self.reason)
    }
}
