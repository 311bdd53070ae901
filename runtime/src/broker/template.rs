//! The broker's side of the template process: has it fork a worker for each run.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::time::Duration;

use super::process::Process;
use super::spawn::{ProcessAndSocket, spawn};
use crate::fd_passing;
use crate::worker_options::{Role, WorkerOptions};

/// How long a template may take to start and to fork, on a busy machine.
const FORK_LIMIT: Duration = Duration::from_secs(20);

/// A template process. Dropping it kills it; the workers that it forked go on.
pub struct Template {
    options: WorkerOptions,
    process: Process,
    socket: StdUnixStream,
}

impl Template {
    pub fn start(program: &Path, options: WorkerOptions) -> io::Result<Self> {
        let (process, socket) = spawn(program, options, Role::Template)?;
        socket.set_read_timeout(Some(FORK_LIMIT))?;
        Ok(Self {
            options,
            process,
            socket,
        })
    }

    /// The options of the workers that it forks.
    pub fn options(&self) -> WorkerOptions {
        self.options
    }

    /// Forks a worker, which is a child of this process. Its socket does not block.
    pub fn fork(&self) -> io::Result<ProcessAndSocket> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        fd_passing::send(self.socket.as_fd(), theirs.as_fd())?;
        let process = self.receive_child()?;
        process.lead_group();
        Ok((process, ours))
    }

    /// Reads the pid of the child that the template forked, or the error of the fork.
    fn receive_child(&self) -> io::Result<Process> {
        let mut reply = [0; 4];
        (&self.socket).read_exact(&mut reply)?;
        match i32::from_le_bytes(reply) {
            pid if pid > 0 => Ok(Process::from_child(pid)),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        self.process.end();
        // A child that was forked after `FORK_LIMIT` is still a child of this process.
        if let Ok(late) = self.receive_child() {
            late.end();
        }
    }
}
