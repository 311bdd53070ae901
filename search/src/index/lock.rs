//! One process at a time writes an index.

use std::fs::{self, File};
use std::path::Path;

use crate::error::SearchError;

/// The right to write. The kernel takes it back when the process ends, however it ends.
#[derive(Debug)]
pub struct IndexLock {
    _file: File,
}

impl IndexLock {
    /// Waits until no other process writes. Blocks the thread.
    pub fn take(folder: &Path) -> Result<Self, SearchError> {
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
