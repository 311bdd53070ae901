//! The placeholders that the model wrote.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::placeholder;

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

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The run received a text. A placeholder in it is not restored any more: it cannot
    /// be distinguished from the one that the model wrote.
    pub fn received(&self, text: &str) {
        if self.names.is_empty() {
            return;
        }
        // One pass over the text, however many placeholders the model wrote.
        let found = placeholder::spans(text).filter_map(|span| self.names.get(&text[span]));
        let found: HashSet<&String> = found.collect();
        if !found.is_empty() {
            self.lock().extend(found.into_iter().cloned());
        }
    }

    /// The first of them in a text.
    pub fn first_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.names.is_empty() {
            return None;
        }
        let mut names = placeholder::spans(text).map(|span| &text[span]);
        names.find(|name| self.names.contains(*name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_a_received_text_are_found_in_one_pass() {
        let name = |number: usize| format!("[EMAIL_{number}_k3f9]");
        let written = WrittenPlaceholders::new((0..1_000).map(name).collect());
        // A search for each name would read 4 GB here.
        let text = format!("{}[{}]{}", "[x] ".repeat(1_000_000), name(7), name(7));
        written.received(&text);
        written.received("[EMAIL_8_k3f");
        assert!(written.is_received(&name(7)));
        assert_eq!(written.lock().len(), 1);
    }
}
