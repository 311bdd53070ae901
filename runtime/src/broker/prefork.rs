//! The worker of a program that runs one script, forked in the first line of `main`.
//!
//! Such a program would otherwise read its configuration, start a worker, and wait for the same
//! binary to be loaded a second time. In the first line of `main` the process holds no secret but
//! argv and environ; so it forks there, the child zeroes those two, and V8 starts in parallel with
//! everything else that the program does.

use std::os::unix::net::UnixStream as StdUnixStream;

use super::reaper::Process;
use crate::worker_options::WorkerOptions;

/// A worker that was forked before the pool existed. Dropping it kills the worker.
pub struct PreforkedWorker {
    pub(super) options: WorkerOptions,
    pub(super) process: Option<(Process, StdUnixStream)>,
}

impl PreforkedWorker {
    /// Hands the process over; the caller kills and reaps it.
    pub(super) fn take(mut self) -> Option<(Process, StdUnixStream)> {
        self.process.take()
    }
}

impl Drop for PreforkedWorker {
    fn drop(&mut self) {
        if let Some((process, _)) = self.process.take() {
            process.end();
        }
    }
}
