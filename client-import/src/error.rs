//! Errors of writing a configuration.

use std::io;
use std::path::PathBuf;

/// Why the configuration was not written. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file exists, and replacing it was not asked for.
    #[error("{path} already exists: pass `--force` to replace it, or name another file")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file has a server of that name.
    #[error(
        "{path} already has a server `{name}`: choose another name, or change the entry in the file"
    )]
    NameTaken {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The file has no server of that name.
    #[error("{path} has no server `{name}`; {}", has(known))]
    NoServer {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The names that it has.
        known: Vec<String>,
    },
    /// The file, or the entry for it, is invalid.
    #[error(transparent)]
    Invalid(#[from] pml_gateway::config::ConfigError),
    /// The file cannot be written.
    #[error("{path} cannot be written: check that its folder exists and is yours")]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn has(known: &[String]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "it has none".to_owned(),
        Some((only, [])) => format!("it has {only}"),
        Some((last, others)) => format!("it has {} and {last}", others.join(", ")),
    }
}
