//! Mistakes in a policy file.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// A mistake in a policy file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake at a byte of the text.
    pub(crate) fn at(text: &str, byte: usize, message: impl Into<String>) -> Self {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Why a policy file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFileError {
    /// It cannot be read.
    #[error("the policy file {} cannot be read: {reason}; correct `pml.policy.file`", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why not.
        reason: String,
    },
    /// It has mistakes.
    #[error("{}:{first}{}", .file.display(), more(.mistakes.len()))]
    Mistakes {
        /// The file.
        file: PathBuf,
        /// The first one.
        first: Mistake,
        /// All of them, by their place.
        mistakes: Vec<Mistake>,
    },
}

impl PolicyFileError {
    /// The mistakes, by their place; `None` if there is none.
    pub(crate) fn of(file: PathBuf, mut mistakes: Vec<Mistake>) -> Option<Self> {
        mistakes.sort();
        mistakes.dedup();
        let first = mistakes.first()?.clone();
        Some(Self::Mistakes {
            file,
            first,
            mistakes,
        })
    }
}

fn more(mistakes: usize) -> String {
    match mistakes {
        0 | 1 => String::new(),
        n => format!(" ({} more: run `pml policy check`)", n - 1),
    }
}
