//! Everything that can go wrong with an audit log, each as one sentence with what to do next.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the audit log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file cannot be read or written.
    #[error("{}: {source}: free space or change its permissions, or name another folder with `pml.audit.path`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of the log is not as the log wrote it.
    #[error("{}: {reason}: run `pml audit verify`, and restore the folder from a copy or move it away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The event is larger than an entry of a bundle can be.
    #[error("an event of {0} bytes does not fit the audit log: an entry has at most 65,535 bytes")]
    TooLarge(usize),
    /// A note, key or checkpoint does not have its form.
    #[error("invalid {what}: {reason}")]
    Invalid {
        /// Which of them.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no log with this name.
    #[error("there is no log `{0}`: `pml audit verify` lists the logs")]
    NoLog(String),
    /// A sink that must get every event does not take them.
    #[error(
        "the sink `{sink}` does not take audit events, and {waiting} wait for it (more than its `spool`): see that it answers, or change its `onFailure` in `pml.audit.sinks`"
    )]
    SinkAway {
        /// Its name.
        sink: String,
        /// Events that it does not have.
        waiting: u64,
    },
    /// There is no such entry.
    #[error("there is no entry {index}: the log has {size}")]
    NoEntry {
        /// The entry that was asked for.
        index: u64,
        /// The entries that there are.
        size: u64,
    },
    /// The entries are not kept any more.
    #[error(
        "entry {0} is not kept any more: its time (`pml.audit.retention.cold`) is up, and only its hash is left"
    )]
    Pruned(u64),
    /// An earlier write failed, and the operator wants no event to be missing.
    #[error("the audit log is closed")]
    Closed,
}

impl AuditError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    pub(crate) fn invalid(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            what,
            reason: reason.into(),
        }
    }
}
