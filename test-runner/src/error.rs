//! What keeps tests from being run at all.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum TestingError {
    #[error("the folder {} cannot be read: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("there are more than {limit} files below {}; name a folder of tests", path.display())]
    TooMany { path: PathBuf, limit: usize },
}
