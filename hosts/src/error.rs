//! Errors of recording and fixture files.

use std::io;
use std::path::PathBuf;

/// Why a recording or a fixture file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is over the size limit.
    #[error("{} is larger than {limit} MiB; record a smaller run", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in MiB.
        limit: u64,
    },
    /// The file is not a recording.
    #[error("{} is not a recording ({error}); make one with `pml run --record`", path.display())]
    MalformedRecording {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: serde_json::Error,
    },
    /// The file has a format that this version does not read.
    #[error(
        "{} has the format `{found}`, and this pml reads `{expected}`; record it anew",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The format that is read.
        expected: &'static str,
    },
    /// A newer pml wrote the file.
    #[error("{} has the format `{found}` of a newer pml; update pml, or record it anew", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// The file is not a fixture file.
    #[error(
        "{} is not a fixture file ({error}); fixtures look like {{ \"fs:read_file\": {{ \"value\": \"text\" }} }}",
        path.display()
    )]
    MalformedFixtures {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: serde_json::Error,
    },
    /// The file cannot be written.
    #[error("the recording {} cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The scrubbing policy blocks a value of the recording.
    #[error("the recording is not written: {0}")]
    Blocked(#[from] pml_scrub::ScrubError),
}
