//! One process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::OAuthError;

/// Longer than a refresh takes, so only a stuck process is ever waited for in vain.
const PATIENCE: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(20);

/// Held by whoever refreshes or replaces a login. The system releases it when the process ends,
/// however it ends.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock beside a stored login.
    ///
    /// The lock has a file of its own, because the login's file is replaced by every write. It
    /// asks again and again instead of blocking a thread, so a cancelled wait leaves none behind.
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
                Err(TryLockError::WouldBlock) if start.elapsed() >= PATIENCE => {
                    return Err(OAuthError::Locked {
                        path: path.to_owned(),
                        waited: PATIENCE,
                    });
                }
                Err(TryLockError::WouldBlock) => sleep(POLL).await,
            }
        }
    }
}
