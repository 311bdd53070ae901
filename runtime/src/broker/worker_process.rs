//! A worker process, as the broker holds it.

use std::os::unix::net::UnixStream as StdUnixStream;

use super::process::{Ending, Process};
use super::reaper::Reaper;
use super::resource_monitor::ResourceMonitor;

/// A worker and the broker's end of the connection to it. Dropping it kills the worker.
pub struct WorkerProcess {
    process: Option<Process>,
    /// Taken by the run.
    pub socket: Option<StdUnixStream>,
    /// `None` where the kernel does not show what the process uses.
    pub monitor: Option<ResourceMonitor>,
    reaper: Reaper,
}

impl WorkerProcess {
    pub fn new(process: Process, socket: StdUnixStream, reaper: Reaper) -> Self {
        Self {
            monitor: ResourceMonitor::of(process.pid()),
            process: Some(process),
            socket: Some(socket),
            reaper,
        }
    }

    /// Lowers the CPU priority of all threads of the worker. A niceness of 0 changes nothing.
    pub fn set_niceness(&self, niceness: i32) {
        let Some(process) = self.process.as_ref().filter(|_| niceness > 0) else {
            return;
        };
        // SAFETY: takes three integers and touches no memory of this process. The worker leads its
        // own process group and has not been reaped, so the group has no other process.
        unsafe { libc::setpriority(libc::PRIO_PGRP, process.pid().cast_unsigned(), niceness) };
    }

    /// Kills the process and returns how it ended, which may have been by itself.
    pub async fn end(mut self) -> Option<Ending> {
        let process = self.process.take()?;
        self.reaper.end(process).await
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            self.reaper.take(process);
        }
    }
}
