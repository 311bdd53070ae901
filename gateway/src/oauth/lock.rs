//! A file lock between processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::OAuthError;

/// Longer than a refresh takes: the lock times out only if a process is stuck.
const TIMEOUT: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(20);

/// Held while a login is refreshed or replaced. The kernel releases it when the process ends.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock beside a stored login.
    ///
    /// The lock has its own file, because every write replaces the login's file. It is polled instead
    /// of blocking a thread, so a cancelled wait leaves no thread behind.
    pub(super) async fn acquire(path: &Path) -> Result<Self, OAuthError> {
        let store_error = |source| OAuthError::Store {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(store_error)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(store_error(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= TIMEOUT => {
                    return Err(OAuthError::Locked {
                        path: path.to_owned(),
                        waited: TIMEOUT,
                    });
                }
                Err(TryLockError::WouldBlock) => sleep(POLL).await,
            }
        }
    }
}
