//! What can be wrong with a file of recorded or made-up answers.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("{} cannot be read: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{} is larger than {limit} MiB; record a smaller run", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} is no recording ({error}); make one with `pml run --record`", path.display())]
    NoRecording {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error(
        "{} has the format `{found}`, and this pml reads `{expected}`; record it anew",
        path.display()
    )]
    Format {
        path: PathBuf,
        found: String,
        expected: &'static str,
    },
    #[error("{} has the format `{found}` of a newer pml; update pml, or record it anew", path.display())]
    Newer { path: PathBuf, found: String },
    #[error(
        "{} holds no fixtures ({error}); they look like {{ \"fs:read_file\": {{ \"value\": \"text\" }} }}",
        path.display()
    )]
    NoFixtures {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error("the recording {} cannot be written: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("the recording is not written: {0}")]
    Blocked(#[from] pml_scrub::ScrubError),
}
