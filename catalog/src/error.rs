//! What can go wrong with the files.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("{} cannot be read ({source}): check who owns it", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be written ({source}): check the folder and the space left", path.display())]
    Write { path: PathBuf, source: io::Error },
}
