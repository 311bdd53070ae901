//! Ctrl-C, and whoever else asks a command to end.

use std::future::Future;
use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// What the work gives, or `None` if a signal came first; the work is dropped then.
pub async fn or<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        done = work => Ok(Some(done)),
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| None),
        _ = terminated.recv() => Ok(None),
    }
}
