//! For whom runs are scheduled and their memory is counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies one of the clients that share a process: its workers, and the memory of arguments and
/// answers. Clones are the same key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FairShareKey(u64);

impl FairShareKey {
    /// A key that differs from all others of this process.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The key as a number.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for FairShareKey {
    fn default() -> Self {
        Self::new()
    }
}
