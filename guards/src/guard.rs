//! The interface of a guard.

use serde::Serialize;

use crate::call::{Answer, GuardedCall};
use crate::level::Level;
use crate::name::GuardName;

/// What a guard says about a call or an answer. The texts are the rest of a sentence that begins with
/// the tool, name arguments, and never contain values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Allow,
    /// It goes on with a warning.
    Warn(String),
    /// The guard has changed the arguments or the answer.
    Repair(String),
    /// It is not sent, or withheld.
    Block(String),
}

impl Verdict {
    /// An objection, at the level of the settings. `Repair` is for guards that have repaired.
    pub(crate) fn objection(level: Level, reason: impl Into<String>) -> Self {
        match level {
            Level::Off => Self::Allow,
            Level::Warn => Self::Warn(reason.into()),
            Level::Repair => Self::Repair(reason.into()),
            Level::Block => Self::Block(reason.into()),
        }
    }
}

/// The rule of a guard that is in force for a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// The guard.
    pub guard: GuardName,
    /// What it does about a call that it objects to.
    pub verdict: Level,
    /// What it objects to.
    pub rule: String,
}

/// A check of calls and answers. An implementation holds its settings and no state: what it has to
/// remember is in the [`History`](crate::History) of the session, so that no entry point forgets it.
///
/// Both checks are quick and do no I/O. They must not panic on any argument.
pub trait Guard: Send + Sync {
    /// The guard's name.
    fn name(&self) -> GuardName;

    /// Its rule for a tool; `None` where it does not look.
    fn in_force(&self, tool: &str) -> Option<InForce>;

    /// Looks at a call before it is sent, and may repair its arguments.
    fn before(&self, call: &mut GuardedCall<'_>) -> Verdict;

    /// Looks at the answer of a call before anything of pml gets it, and may repair it.
    fn after(&self, answer: &mut Answer<'_>) -> Verdict;
}
