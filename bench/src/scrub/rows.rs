//! The data set: sentences with labelled spans, and test cases of single recognizers.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A labelled text.
#[derive(Deserialize)]
pub struct Row {
    pub text: String,
    #[serde(default)]
    pub recognizer: Option<String>,
    #[serde(default)]
    pub entities: Option<Vec<String>>,
    #[serde(default)]
    pub expected_count: Option<usize>,
    #[serde(default)]
    pub spans: Vec<Span>,
}

/// A labelled part of a text, in characters.
#[derive(Deserialize, Clone)]
pub struct Span {
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    pub start: usize,
    pub end: usize,
}

impl Row {
    /// The kinds that this row tests; `None` means every kind.
    pub fn tested(&self) -> Option<&[String]> {
        self.recognizer
            .as_ref()
            .map(|_| self.entities.as_deref().unwrap_or_default())
    }
}

/// Reads all `*.jsonl` files of a folder, in the order of their names.
pub fn read(folder: &Path) -> Result<Vec<Row>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    anyhow::ensure!(!files.is_empty(), "{} has no .jsonl file", folder.display());
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        for (number, line) in text.lines().enumerate() {
            let row = serde_json::from_str(line)
                .with_context(|| format!("{}:{}", file.display(), number + 1))?;
            rows.push(row);
        }
    }
    Ok(rows)
}
