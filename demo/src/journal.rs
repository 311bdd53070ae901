//! The call journal: a file with one line of JSON per call, so that a test can count them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rmcp::model::JsonObject;
use serde_json::json;

/// An append-only file of calls.
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens the file for appending; it is created if it is missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file })
    }

    /// Appends a call, in a single write, because several servers may share a journal.
    ///
    /// # Errors
    ///
    /// If the write fails.
    pub fn append(&self, tool: &str, input: &JsonObject) -> io::Result<()> {
        let line = format!("{}\n", json!({ "tool": tool, "args": input }));
        (&self.file).write_all(line.as_bytes())
    }
}
