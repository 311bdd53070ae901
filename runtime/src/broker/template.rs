//! Worker processes, started as programs or copied from a template.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::reaper::Process;
use crate::fd_passing;
use crate::worker_options::{Role, WorkerOptions};

/// What a template gets to start and to be copied, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a worker from its program.
pub fn start(program: &Path, options: WorkerOptions) -> io::Result<(Process, StdUnixStream)> {
    let (process, socket) = spawn(program, options, Role::Worker)?;
    socket.set_nonblocking(true)?;
    Ok((process, socket))
}

fn spawn(
    program: &Path,
    options: WorkerOptions,
    role: Role,
) -> io::Result<(Process, StdUnixStream)> {
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
    let number = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    Ok((Process(number), ours))
}

/// The template of a pool's workers.
pub struct Templates {
    program: PathBuf,
    running: Option<Template>,
}

struct Template {
    options: WorkerOptions,
    process: Process,
    socket: StdUnixStream,
}

impl Templates {
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            running: None,
        }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A worker with these options. Where none can be copied, one is started: slower, and no
    /// reason to fail.
    pub fn copy(&mut self, options: WorkerOptions) -> io::Result<(Process, StdUnixStream)> {
        let copied = self.template(options).and_then(|template| template.copy());
        copied.or_else(|_| {
            // A template that failed once is not asked again.
            self.running = None;
            start(&self.program, options)
        })
    }

    fn template(&mut self, options: WorkerOptions) -> io::Result<&Template> {
        let fits = |template: &Template| template.options == options;
        if !self.running.as_ref().is_some_and(fits) {
            self.running = Some(Template::start(&self.program, options)?);
        }
        self.running
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Template {
    fn start(program: &Path, options: WorkerOptions) -> io::Result<Self> {
        let (process, socket) = spawn(program, options, Role::Template)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            options,
            process,
            socket,
        })
    }

    fn copy(&self) -> io::Result<(Process, StdUnixStream)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        fd_passing::send(self.socket.as_fd(), theirs.as_fd())?;
        let process = self.copied()?;
        process.lead_group();
        Ok((process, ours))
    }

    /// The process that the template says it has made.
    fn copied(&self) -> io::Result<Process> {
        let mut number = [0; 4];
        (&self.socket).read_exact(&mut number)?;
        match i32::from_le_bytes(number) {
            number if number > 0 => Ok(Process(number)),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        self.process.end();
        // A copy that nobody had the patience to wait for is still a child of ours.
        if let Ok(late) = self.copied() {
            late.end();
        }
    }
}
