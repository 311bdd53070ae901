//! Why a lock file cannot be used.

use std::path::PathBuf;

/// Why a lock file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {problem}", .file.display(), line_suffix(*.line))]
pub struct LockError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub problem: String,
}

fn line_suffix(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}
