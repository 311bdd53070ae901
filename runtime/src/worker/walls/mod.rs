//! The walls around a worker. Each stands on its own: a hole in one is still behind the others.

mod descriptors;
mod filesystem;
mod process;
mod syscalls;

use std::os::fd::RawFd;

use crate::worker_options::WorkerOptions;

/// Which walls this kernel would not give.
#[derive(Default)]
pub struct Walls {
    missing: Vec<String>,
}

/// Everything that binds one thread and those it starts, or the process as a whole. Call before
/// any thread exists.
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
    /// What a copied process does not have from the one it was copied from: the tie to its parent,
    /// and a domain of its own, so that copies cannot reach each other.
    pub fn around_fork(&mut self, parent: libc::pid_t) {
        process::die_with(parent);
        self.note("landlock", filesystem::forbid());
    }

    /// The system-call filter, for all threads at once. Nothing may be started after this.
    pub fn after_threads(&mut self, options: &WorkerOptions) {
        self.note("descriptor limit", descriptors::forbid_more());
        self.note("seccomp", syscalls::filter(options.jit));
    }

    pub fn missing(self) -> Vec<String> {
        self.missing
    }

    fn note(&mut self, wall: &str, result: Result<(), String>) {
        if let Err(reason) = result {
            let told = format!("{wall}: {reason}");
            if !self.missing.contains(&told) {
                self.missing.push(told);
            }
        }
    }
}
