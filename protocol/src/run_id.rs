//! The id of a run.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The id of one run: 128 random bits in hexadecimal, or a name that its caller chose.
///
/// ```
/// use pml_protocol::RunId;
///
/// assert!("nightly-2026-11-18".parse::<RunId>().is_ok());
/// assert!("../passwd".parse::<RunId>().is_err());
/// assert_ne!(RunId::random(), RunId::random());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Arc<str>);

/// A text that cannot be the id of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid run id: expected 1 to {} letters, digits, `-`, `_` or `.`, the first one a letter or a digit",
    RunId::MAX_BYTES
)]
pub struct InvalidRunId;

impl RunId {
    /// The longest id.
    pub const MAX_BYTES: usize = 64;

    /// A new id, unique across machines and restarts.
    pub fn random() -> Self {
        Self(format!("{:032x}", crate::run_context::random_bits()).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric();
        let fits = text.len() <= Self::MAX_BYTES
            && text.bytes().next().is_some_and(is_word)
            && text
                .bytes()
                .all(|byte| is_word(byte) || matches!(byte, b'-' | b'_' | b'.'));
        match fits {
            true => Ok(Self(text.into())),
            false => Err(InvalidRunId),
        }
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidRunId;

    fn try_from(text: String) -> Result<Self, InvalidRunId> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_file_name_and_a_word_on_the_command_line() {
        for id in ["a", "0", "nightly-1", "a.b_c", &"x".repeat(64)] {
            assert!(id.parse::<RunId>().is_ok(), "{id}");
        }
        for id in ["", "-a", ".", "a b", "a/b", "é", "a\n", &"x".repeat(65)] {
            assert_eq!(id.parse::<RunId>(), Err(InvalidRunId), "{id}");
        }
    }
}
