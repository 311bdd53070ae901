//! What can go wrong while configurations are found and written.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("{path} is already there: pass `--force` to replace it, or name another file")]
    Exists { path: PathBuf },
    #[error("{path} cannot be written")]
    Write { path: PathBuf, source: io::Error },
}
