//! What a guard does about a call that it objects to.

use serde::{Deserialize, Serialize};

/// What happens to a call that a guard objects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The guard does not look.
    Off,
    /// The call goes on with a warning.
    Warn,
    /// The arguments or the answer are changed, and the call goes on.
    Repair,
    /// The call is not sent, or its answer is withheld.
    Block,
}

impl Level {
    /// The name in configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Repair => "repair",
            Self::Block => "block",
        }
    }
}
