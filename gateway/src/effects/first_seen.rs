//! The definitions under which tools were first seen.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::registry::Tool;

/// Remembers the first definition of every tool that was about to be called ahead of time. A server that
/// changes a tool after it was classified may have changed what it does.
#[derive(Debug, Default)]
pub(crate) struct FirstSeen(Mutex<HashMap<String, String>>);

impl FirstSeen {
    /// Whether the tool is as it was when this was asked first.
    pub fn is_first(&self, tool: &Tool) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get(tool.id.as_str()) {
            Some(fingerprint) => *fingerprint == tool.fingerprint,
            None => {
                seen.insert(tool.id.as_str().to_owned(), tool.fingerprint.clone());
                true
            }
        }
    }
}
