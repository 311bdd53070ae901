//! Why a secret cannot be used.

use crate::reference::Reference;

/// Why a secret cannot be used: one sentence with the reference and what to do, never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// There is no such secret.
    #[error("the secret `{reference}` does not exist: {remedy}")]
    Missing {
        /// Its reference.
        reference: Reference,
        /// How to make it, or to name another one.
        remedy: String,
    },

    /// Its source does not give it out.
    #[error("the secret `{reference}` may not be read ({reason}): {remedy}")]
    Denied {
        /// Its reference.
        reference: Reference,
        /// What the source says.
        reason: String,
        /// How to get the right to read it.
        remedy: String,
    },

    /// Its source does not answer.
    #[error("the source of the secret `{reference}` does not answer ({reason}): {remedy}")]
    Unreachable {
        /// Its reference.
        reference: Reference,
        /// What failed.
        reason: String,
        /// What to look at.
        remedy: String,
    },

    /// What the source gave is not a secret that can be used.
    #[error("the secret `{reference}` cannot be used: {reason}")]
    Unusable {
        /// Its reference.
        reference: Reference,
        /// What is wrong with it, and what to do.
        reason: String,
    },
}

impl SecretError {
    /// What a source said, for the replacement of values in it.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (first, second) = match self {
            Self::Missing { remedy, .. } => (remedy, None),
            Self::Denied { reason, remedy, .. } | Self::Unreachable { reason, remedy, .. } => {
                (reason, Some(remedy))
            }
            Self::Unusable { reason, .. } => (reason, None),
        };
        std::iter::once(first).chain(second)
    }

    /// Whether the same request may succeed later: the source did not answer.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}
