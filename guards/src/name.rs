//! The names of the guards.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A guard, by its key in `pml.guards`. The order is that in which guards look at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardName {
    /// Arguments that the schema does not know, and types that nearly fit.
    Schema,
    /// References and placeholders that were not resolved.
    References,
    /// Secrets and personal data in arguments.
    Sensitive,
    /// URLs of addresses that must not be reached.
    Network,
    /// Calls with more effect than is permitted.
    Effect,
    /// Calls before the calls that they need.
    Preconditions,
    /// Arguments that no earlier answer had.
    Provenance,
    /// The same effect a second time, after a call without an answer.
    Retry,
    /// The same call again and again.
    Runaway,
    /// Long chains, wide fan-outs and large batches.
    Shape,
    /// Calls at once, by `pml.policy.concurrency`.
    Concurrency,
    /// Numbers and rates of calls, by `pml.policy.budget`, `pml.policy.rate` and the limits of the run.
    Limits,
    /// Calls that take long.
    Time,
    /// Large and deep answers.
    Output,
    /// Answers that do not fit the output schema.
    Contract,
    /// Degenerate answers.
    Saturation,
}

impl GuardName {
    /// All of them, in their order.
    pub const ALL: [Self; 16] = [
        Self::Schema,
        Self::References,
        Self::Sensitive,
        Self::Network,
        Self::Effect,
        Self::Preconditions,
        Self::Provenance,
        Self::Retry,
        Self::Runaway,
        Self::Shape,
        Self::Concurrency,
        Self::Limits,
        Self::Time,
        Self::Output,
        Self::Contract,
        Self::Saturation,
    ];

    /// The key in `pml.guards`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::References => "references",
            Self::Sensitive => "sensitive",
            Self::Network => "network",
            Self::Effect => "effect",
            Self::Preconditions => "preconditions",
            Self::Provenance => "provenance",
            Self::Retry => "retry",
            Self::Runaway => "runaway",
            Self::Shape => "shape",
            Self::Concurrency => "concurrency",
            Self::Limits => "limits",
            Self::Time => "time",
            Self::Output => "output",
            Self::Contract => "contract",
            Self::Saturation => "saturation",
        }
    }

    /// Where the rule of a guard is configured that only shows a rule of `pml.policy`.
    pub fn configured_by(self) -> Option<&'static str> {
        match self {
            Self::Concurrency => Some("pml.policy.concurrency"),
            Self::Limits => Some("pml.policy.budget and pml.policy.rate"),
            _ => None,
        }
    }

    /// Whether the guard has the verdict `repair`.
    pub fn can_repair(self) -> bool {
        matches!(self, Self::Schema | Self::Sensitive | Self::Output)
    }
}

impl fmt::Display for GuardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
