//! Errors of SQLite and of files, as errors of the store.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::error::StoreError;

/// `SQLITE_IOERR_SHMSIZE`: the shared memory file cannot grow, which happens on a full disk.
const SHM_CANNOT_GROW: i32 = 4874;

/// What an error of SQLite means for the database at `path`.
pub(super) fn from_sqlite(store: &Arc<str>, path: &Path, error: &rusqlite::Error) -> StoreError {
    let store = store.clone();
    let detail = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return StoreError::Database { store, detail };
    };
    match failure.code {
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            StoreError::Damaged { store, detail }
        }
        ErrorCode::DiskFull => StoreError::Full { store },
        ErrorCode::SystemIoFailure if failure.extended_code == SHM_CANNOT_GROW => {
            StoreError::Full { store }
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { store },
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            let path = path.to_owned();
            StoreError::NotWritable { path, detail }
        }
        _ => StoreError::Database { store, detail },
    }
}

/// What an error of a file means.
pub(super) fn from_io(store: &Arc<str>, path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full {
            store: store.clone(),
        },
        _ => StoreError::NotWritable {
            path: path.to_owned(),
            detail: error.to_string(),
        },
    }
}
