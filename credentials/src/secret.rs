//! The value of a secret in memory.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// The value of a secret. Clones share it; the last one zeroizes it.
#[derive(Clone)]
pub struct Secret {
    value: Arc<Zeroizing<String>>,
    version: u64,
}

impl Secret {
    pub(crate) fn new(value: Zeroizing<String>, version: u64) -> Self {
        Self {
            value: Arc::new(value),
            version,
        }
    }

    /// The value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// A number that changes with the value.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl fmt::Debug for Secret {
    /// Without the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
