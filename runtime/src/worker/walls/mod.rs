//! The walls: the sandbox of a worker. Each layer holds without the others.

mod descriptors;
mod filesystem;
mod process;
mod syscalls;

use std::os::fd::RawFd;

use crate::worker_options::WorkerOptions;

/// The walls of this process, with those that the kernel refused.
#[derive(Default)]
pub struct Walls {
    missing: Vec<String>,
}

/// Installs the walls that apply to one thread and those that it starts, or to the whole process. Call
/// it before any other thread exists.
pub fn before_threads(parent: libc::pid_t, socket: RawFd, options: &WorkerOptions) -> Walls {
    let mut walls = Walls::default();
    process::die_with(parent);
    descriptors::close_all_but(socket);
    walls.note("no_new_privs", process::forbid_privileges());
    walls.note("resource limits", process::limit_resources(options));
    walls.note("landlock", filesystem::forbid());
    walls
}

impl Walls {
    /// Installs what a forked worker does not inherit: the death signal of its parent, and its own
    /// landlock domain, so that forks cannot reach each other.
    pub fn around_fork(&mut self, parent: libc::pid_t) {
        process::die_with(parent);
        self.note("landlock", filesystem::forbid());
    }

    /// Installs the system-call filter for all threads. No thread may be started after this.
    pub fn after_threads(&mut self, options: &WorkerOptions) {
        self.note("descriptor limit", descriptors::forbid_more());
        self.note("seccomp", syscalls::filter(options.jit));
    }

    /// The walls that the kernel refused, each with the reason.
    pub fn missing(self) -> Vec<String> {
        self.missing
    }

    fn note(&mut self, wall: &str, result: Result<(), String>) {
        if let Err(reason) = result {
            let missing = format!("{wall}: {reason}");
            if !self.missing.contains(&missing) {
                self.missing.push(missing);
            }
        }
    }
}
