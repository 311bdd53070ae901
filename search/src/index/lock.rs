//! The file lock that lets one process at a time write an index.

use std::fs::{self, File};
use std::path::Path;

use crate::error::SearchError;

/// An exclusive lock on an index folder. The kernel releases it when the process ends, even by a crash.
#[derive(Debug)]
pub struct IndexLock {
    _file: File,
}

impl IndexLock {
    /// Acquires the lock; blocks the thread while another process holds it.
    ///
    /// # Errors
    ///
    /// If the lock file cannot be created or locked.
    pub fn acquire(folder: &Path) -> Result<Self, SearchError> {
        let unusable = |source| SearchError::Folder {
            path: folder.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(unusable)?;
        let file = File::create(folder.join("lock")).map_err(unusable)?;
        file.lock().map_err(unusable)?;
        Ok(Self { _file: file })
    }
}
