//! A file that has a line for every call, so that a test can count them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rmcp::model::JsonObject;
use serde_json::json;

pub struct Journal {
    file: File,
}

impl Journal {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file })
    }

    /// One write per line: several servers may share a journal.
    pub fn note(&self, tool: &str, input: &JsonObject) -> io::Result<()> {
        let line = format!("{}\n", json!({ "tool": tool, "args": input }));
        (&self.file).write_all(line.as_bytes())
    }
}
