//! The worker of a program that runs one script, forked in the first line of `main`.
//!
//! Such a program would otherwise read its configuration, start a worker, and wait for the same
//! binary to be loaded a second time. In the first line of `main` the process holds no secret but
//! argv and environ; so it forks there, the child zeroes those two, and V8 starts in parallel with
//! everything else that the program does.

use super::spawn::ProcessAndSocket;
use crate::worker_options::WorkerOptions;

/// A worker that was forked before the pool existed. Dropping it kills the worker.
pub struct PreforkedWorker {
    pub(super) options: WorkerOptions,
    process: Option<ProcessAndSocket>,
}

impl PreforkedWorker {
    /// Hands the process over; the caller kills and reaps it.
    pub(super) fn take(mut self) -> Option<ProcessAndSocket> {
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

#[cfg(feature = "worker")]
mod fork {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream as StdUnixStream;

    use super::PreforkedWorker;
    use crate::broker::proc_stat::ProcStat;
    use crate::broker::process::Process;
    use crate::worker;
    use crate::worker_options::WorkerOptions;

    impl PreforkedWorker {
        /// Forks a worker. Call it first thing in `main`, after `worker::run_if_requested`.
        ///
        /// `None` where forking fails or is no longer safe, because there are threads: a worker can
        /// still be spawned from its program.
        pub fn fork(options: WorkerOptions) -> Option<Self> {
            let own = ProcStat::read()?;
            if own.threads != 1 {
                return None;
            }
            let (ours, theirs) = StdUnixStream::pair().ok()?;
            ours.set_nonblocking(true).ok()?;
            let parent = libc::pid_t::try_from(std::process::id()).ok()?;
            // SAFETY: this process has one thread, so the child holds no lock of another thread.
            match unsafe { libc::fork() } {
                0 => {
                    own.zero_argv_and_environ();
                    worker::become_worker(parent, options, &OwnedFd::from(theirs))
                }
                pid if pid > 0 => {
                    let process = Process::from_child(pid);
                    process.lead_group();
                    Some(Self {
                        options,
                        process: Some((process, ours)),
                    })
                }
                _ => None,
            }
        }
    }
}
