//! Errors in a configuration, with the file, the line and the key.

use std::path::PathBuf;

use pml_policy::lock::LockError;

use super::Expansions;
use crate::secrets::Secrets;

/// An error in the configuration. Each message names the place and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is no configuration file.
    #[error(
        "no configuration found (looked at {}): run `pml init`, or name a file with --config",
        list(.looked_at)
    )]
    NotFound {
        /// The paths that were tried.
        looked_at: Vec<PathBuf>,
    },

    /// The file cannot be read.
    #[error("{}: cannot be read ({reason}): check that the file exists and its permissions", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        reason: String,
    },

    /// The file is not JSON.
    #[error("{}:{line}:{column}: not valid JSON: {message}", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },

    /// A key is unknown.
    #[error("{}:{line}: unknown key `{key}`{}", .file.display(), did_you_mean(.nearest))]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The path of the key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },

    /// A value is invalid.
    #[error("{}:{line}: `{key}`: {message}", .file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The path of the key.
        key: String,
        /// What is wrong.
        message: String,
    },

    /// The server is not the one that the lock file pins.
    #[error(
        "server `{server}` {}, so it is not started: look at `pml lock diff {server}`, then run `pml lock accept {server}`",
        if *.is_pinned { "has another command or address than in pml.lock" } else { "is not in pml.lock" }
    )]
    NotPinned {
        /// The server.
        server: String,
        /// Whether a server of this name is pinned.
        is_pinned: bool,
    },

    /// The lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),

    /// The file belongs to a project that the user does not trust.
    #[error(
        "{} belongs to this folder and is not trusted, so nothing of it is started: look at the file, then run `{command}`",
        .file.display()
    )]
    Untrusted {
        /// The file.
        file: PathBuf,
        /// The command that trusts it.
        command: String,
    },

    /// A variable is not set.
    #[error(
        "{}:{line}: `{key}` uses ${{{variable}}}, which is not set: set it, or write ${{{variable}:-default}}",
        .file.display()
    )]
    UnsetVariable {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The path of the key.
        key: String,
        /// The variable.
        variable: String,
    },
}

/// Shorter values are not replaced in a message: it would become unreadable.
const MIN_REPLACED: usize = 3;

impl ConfigError {
    /// The error with the names of variables in the place of their values.
    pub(super) fn unexpanded(mut self, expansions: &Expansions) -> Self {
        if let Self::Invalid { message, .. } = &mut self {
            let values = Secrets::default();
            let pairs = expansions
                .iter()
                .map(|(name, value)| (value.clone(), name.clone()));
            values.add_all(pairs.filter(|(value, _)| value.len() >= MIN_REPLACED));
            values.hide_for_people_in(message);
        }
        self
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

fn did_you_mean(nearest: &Option<String>) -> String {
    match nearest {
        Some(key) => format!(": did you mean `{key}`?"),
        None => ": remove it".to_owned(),
    }
}
