//! Spawns a worker process from the program.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::process::Process;
use crate::worker_options::{Role, WorkerOptions};

/// A process that was just spawned or forked, and the broker's end of its socket.
pub type ProcessAndSocket = (Process, StdUnixStream);

/// Spawns a worker for one script. Its socket does not block.
pub fn spawn_worker(program: &Path, options: WorkerOptions) -> io::Result<ProcessAndSocket> {
    let (process, socket) = spawn(program, options, Role::Worker)?;
    socket.set_nonblocking(true)?;
    Ok((process, socket))
}

/// Spawns a worker in this role, with an empty environment and its socket as standard input.
pub fn spawn(program: &Path, options: WorkerOptions, role: Role) -> io::Result<ProcessAndSocket> {
    let (ours, theirs) = StdUnixStream::pair()?;
    let mut command = Command::new(program);
    options.apply(role, &mut command);
    let child = command
        .env_clear()
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    Ok((Process::from_child(pid), ours))
}
