//! A child process, and how it ended.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::resource_usage::peak_rss_bytes;

/// A child of this process that has not been waited for, so that the kernel cannot have reused its
/// pid.
#[derive(Debug)]
pub struct Process(libc::pid_t);

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// Its exit code or signal.
    pub status: ExitStatus,
    /// The most memory that it held.
    pub peak_rss_bytes: u64,
}

/// The result of [`Process::wait`].
pub enum Waited {
    /// The process still runs.
    NotYet,
    /// The process has ended and is reaped. `None` where the kernel does not say how.
    Over(Option<Ending>),
}

impl Process {
    /// The child with this pid, which the caller has just started or forked.
    pub fn from_child(pid: libc::pid_t) -> Self {
        Self(pid)
    }

    pub fn pid(&self) -> libc::pid_t {
        self.0
    }

    /// Kills the process, if it still runs, and waits for it.
    pub fn end(&self) -> Option<Ending> {
        self.kill();
        match self.wait(0) {
            Waited::Over(ending) => ending,
            Waited::NotYet => None,
        }
    }

    /// Makes the process the leader of its own process group, as a spawned worker is: signals that a
    /// terminal sends to the broker's group do not reach it, and one call sets the priority of all
    /// its threads.
    pub fn lead_group(&self) {
        // SAFETY: takes two integers and touches no memory of this process. The pid is that of a
        // child that has not been reaped, so it names no other process.
        unsafe { libc::setpgid(self.0, self.0) };
    }

    pub fn kill(&self) {
        // SAFETY: takes two integers and touches no memory of this process. A child that has ended is
        // a zombie until it is reaped, so the pid names no other process.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    /// Waits for the end of the process; with `WNOHANG` in `flags`, only looks whether it has ended.
    pub fn wait(&self, flags: libc::c_int) -> Waited {
        loop {
            let mut status = 0;
            // SAFETY: all-zero bytes are a valid `rusage`. Both pointers are to locals that outlive
            // the call.
            let (waited, usage) = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                let waited = libc::wait4(self.0, &raw mut status, flags, &raw mut usage);
                (waited, usage)
            };
            return match waited {
                0 => Waited::NotYet,
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => continue,
                -1 => Waited::Over(None),
                _ => Waited::Over(Some(Ending {
                    status: ExitStatus::from_raw(status),
                    peak_rss_bytes: peak_rss_bytes(&usage),
                })),
            };
        }
    }
}
