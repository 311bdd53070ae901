//! What a run or a session has read.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Integrity and confidentiality of what was read. Labels only rise: [`Label::join`] is the least label
/// above both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    /// Whether somebody who is not trusted may have written part of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    untrusted: bool,
    /// The servers whose private data is part of it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    private: BTreeSet<String>,
}

impl Label {
    /// Data that everybody may read and that only trusted people wrote.
    pub const CLEAN: Self = Self {
        untrusted: false,
        private: BTreeSet::new(),
    };

    /// Data that somebody who is not trusted may have written.
    pub fn untrusted() -> Self {
        Self {
            untrusted: true,
            ..Self::default()
        }
    }

    /// Private data of a server.
    pub fn private(server: &str) -> Self {
        Self {
            private: BTreeSet::from([server.to_owned()]),
            ..Self::default()
        }
    }

    /// Whether it is trusted and public.
    pub fn is_clean(&self) -> bool {
        *self == Self::CLEAN
    }

    /// Whether somebody who is not trusted may have written part of it.
    pub fn is_untrusted(&self) -> bool {
        self.untrusted
    }

    /// The servers whose private data is part of it.
    pub fn private_servers(&self) -> impl ExactSizeIterator<Item = &str> {
        self.private.iter().map(String::as_str)
    }

    /// The least label above both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            untrusted: self.untrusted || other.untrusted,
            private: self.private.union(&other.private).cloned().collect(),
        }
    }

    /// Whether the other label is at most this one.
    pub fn covers(&self, other: &Self) -> bool {
        (self.untrusted || !other.untrusted) && self.private.is_superset(&other.private)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.untrusted {
            true => "untrusted",
            false => "trusted",
        })?;
        match self.private.is_empty() {
            true => f.write_str(", public"),
            false => {
                let servers: Vec<&str> = self.private_servers().collect();
                write!(f, ", private to {}", servers.join(" and "))
            }
        }
    }
}
