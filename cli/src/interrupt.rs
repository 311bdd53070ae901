//! SIGINT (Ctrl-C) and SIGTERM.

use std::future::Future;
use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Runs `work` until it ends or a signal arrives. A signal drops the work and returns `None`.
pub async fn or<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        done = work => Ok(Some(done)),
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| None),
        _ = terminated.recv() => Ok(None),
    }
}
