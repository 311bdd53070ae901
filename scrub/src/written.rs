//! The placeholders that the model wrote.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The placeholders in the text that a model wrote for one run: the source of its script, or the
/// arguments of its call. Only these are restored. The set is made before the run begins, and a run
/// can only take from it.
#[derive(Default)]
pub struct WrittenPlaceholders {
    names: HashSet<String>,
    /// Those that the run also received as data.
    received: Mutex<HashSet<String>>,
}

impl WrittenPlaceholders {
    pub(crate) fn new(names: HashSet<String>) -> Self {
        Self {
            names,
            received: Mutex::default(),
        }
    }

    /// Whether there is nothing to restore.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The run received a text. A placeholder in it is not restored any more: it cannot be told
    /// apart from the one that the model wrote.
    pub fn received(&self, text: &str) {
        if self.names.is_empty() || !text.contains('[') {
            return;
        }
        let found = self.names.iter().filter(|name| text.contains(&***name));
        let found: Vec<String> = found.cloned().collect();
        if !found.is_empty() {
            self.lock().extend(found);
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(crate) fn is_received(&self, name: &str) -> bool {
        self.lock().contains(name)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        // Names are only ever added, so the set is whole after a panic.
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
