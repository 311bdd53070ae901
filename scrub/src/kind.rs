//! The kind of private data, as a placeholder shows it: `EMAIL`, `US_SSN`.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A kind of private data. Cheap to copy; two kinds are equal when their names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(&'static str);

impl Kind {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The kind of a pattern from the configuration. Such names are few and live as long as the
    /// process, so each is interned and leaked once; that keeps `Kind` a `Copy` type.
    pub(crate) fn intern(name: &str) -> Self {
        static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.get_or_insert_with(HashSet::new);
        if let Some(known) = names.get(name) {
            return Self(known);
        }
        let leaked: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(leaked);
        Self(leaked)
    }

    /// The name, upper case with underscores.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}
