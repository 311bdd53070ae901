//! Errors of the catalog's files.

use std::io;
use std::path::PathBuf;

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A configuration or a file of the store cannot be read.
    #[error("{} cannot be read ({source}): check its owner and permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the store cannot be written.
    #[error("{} cannot be written ({source}): check the folder's permissions and the space on the disk", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}
