//! What can be wrong with a configuration, said with the file, the line and the key.

use std::path::PathBuf;

/// A mistake in the configuration. Each message is complete: it names the place and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "no configuration found (looked at {}): run `pml init`, or name a file with --config",
        list(.looked_at)
    )]
    NotFound { looked_at: Vec<PathBuf> },

    #[error("{}: cannot be read ({reason}): check that the file exists and its permissions", .file.display())]
    Unreadable { file: PathBuf, reason: String },

    #[error("{}:{line}:{column}: not valid JSON: {message}", .file.display())]
    Syntax {
        file: PathBuf,
        line: usize,
        column: usize,
        message: String,
    },

    #[error("{}:{line}: unknown key `{key}`{}", .file.display(), did_you_mean(.nearest))]
    UnknownKey {
        file: PathBuf,
        line: usize,
        key: String,
        nearest: Option<String>,
    },

    #[error("{}:{line}: `{key}`: {message}", .file.display())]
    Invalid {
        file: PathBuf,
        line: usize,
        key: String,
        message: String,
    },

    #[error(
        "{}:{line}: `{key}` uses ${{{variable}}}, which is not set: set it, or write ${{{variable}:-default}}",
        .file.display()
    )]
    UnsetVariable {
        file: PathBuf,
        line: usize,
        key: String,
        variable: String,
    },
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
