//! What a tool call changes in the world.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a call of a tool does to the world. Retry, resume, speculation and approval all decide by this
/// one classification.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum EffectClass {
    /// It changes nothing.
    Read,
    /// Repeating it changes nothing more.
    Idempotent,
    /// The tool accepts an idempotency key: repeating it with the same key changes nothing more.
    Keyed,
    /// Everything else: repeating it may repeat its effect.
    #[default]
    Guarded,
}

impl EffectClass {
    /// All classes, from the least effect to the most.
    pub const ALL: [Self; 4] = [Self::Read, Self::Idempotent, Self::Keyed, Self::Guarded];

    /// The name in configurations and replies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Idempotent => "idempotent",
            Self::Keyed => "keyed",
            Self::Guarded => "guarded",
        }
    }

    /// Whether a call whose outcome is unknown may be sent again.
    pub fn is_repeatable(self) -> bool {
        self != Self::Guarded
    }

    /// Whether the intent of a call is on disk before it is sent.
    pub fn needs_intent(self) -> bool {
        matches!(self, Self::Keyed | Self::Guarded)
    }
}

impl fmt::Display for EffectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EffectClass {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or(())
    }
}
