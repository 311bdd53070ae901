//! Ctrl-C.

use std::future::Future;
use std::io;

/// What the work gives, or `None` if Ctrl-C came first; the work is dropped then.
pub async fn or<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    tokio::select! {
        done = work => Ok(Some(done)),
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| None),
    }
}
