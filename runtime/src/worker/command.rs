//! How a process becomes a worker.

use std::ffi::OsString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process::Command;
use std::sync::Arc;

use super::connection::{Connection, Writer};
use super::control::Control;
use super::{execute, isolate, probe, walls};
use crate::limits::Limits;
use crate::outcome::{ErrorKind, RunError};
use crate::protocol::{FromWorker, Report, ToWorker};

/// Not a subcommand anyone would type.
const WORKER: &str = "__pml_worker";

/// The connection arrives as standard input: the one descriptor that can be handed over without
/// running code between fork and exec.
const SOCKET: RawFd = 0;

/// What must be known before the isolate exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    pub heap_bytes: u64,
    pub buffer_bytes: u64,
    /// Without it V8 writes no machine code, and the process may map no executable memory.
    pub jit: bool,
}

impl WorkerOptions {
    pub fn for_limits(limits: &Limits, jit: bool) -> Self {
        Self {
            heap_bytes: limits.heap_bytes,
            buffer_bytes: limits.buffer_bytes,
            jit,
        }
    }

    /// Adds the words that make `command` a worker of this process.
    pub(crate) fn apply(self, command: &mut Command) {
        command
            .arg(WORKER)
            .arg(std::process::id().to_string())
            .arg(self.heap_bytes.to_string())
            .arg(self.buffer_bytes.to_string())
            .arg(u8::from(self.jit).to_string());
    }

    fn parse(words: &[OsString]) -> Option<(libc::pid_t, Self)> {
        let mut numbers = words.iter().map(|word| word.to_str()?.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let parent = libc::pid_t::try_from(next()?).ok()?;
        let options = Self {
            heap_bytes: next()?,
            buffer_bytes: next()?,
            jit: next()? != 0,
        };
        Some((parent, options))
    }
}

/// Turns this process into a worker if it was started as one, and does not return then.
///
/// Call it first thing in `main`, before any thread exists: V8 must be initialised on the first
/// thread, and landlock binds only the thread that asks for it and those it starts.
pub fn run_if_requested() {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != WORKER) {
        return;
    }
    let words: Vec<OsString> = words.collect();
    let code = match WorkerOptions::parse(&words) {
        Some((parent, options)) => work(parent, options, probe::requested(&words)),
        None => 2,
    };
    exit(code)
}

/// Ends the process without running destructors: V8's teardown is slow, and nothing in this
/// process outlives it.
fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(code) }
}

fn work(parent: libc::pid_t, options: WorkerOptions, probe: bool) -> i32 {
    let mut walls = walls::before_threads(parent, SOCKET, &options);
    // SAFETY: the broker passed the socket as this descriptor, and nobody else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(SOCKET) };
    let writer = Arc::new(Writer::new(socket));

    isolate::init_platform(options.jit);
    let Ok(event_loop) = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
    else {
        return 1;
    };
    event_loop.block_on(async {
        let control = Arc::new(Control::new(writer.clone()));
        let Ok(connection) = Connection::new(writer.clone()) else {
            return 1;
        };
        let mut isolate = isolate::create(&options, control.clone(), connection.clone());
        if probe {
            probe::list_ops(&writer, &isolate.runtime);
            probe::run(&writer, "before seccomp");
        }
        execute::rehearse(&mut isolate).await;
        walls.after_threads(&options);
        let ready = FromWorker::Ready {
            missing_walls: walls.missing(),
        };
        if writer.send(&ready).is_err() {
            return 1;
        }
        if probe {
            probe::run(&writer, "behind all walls");
            exit(0);
        }
        let Some(ToWorker::Run(spec)) = connection.receive().await else {
            // The broker has no more use for a warm worker.
            exit(0);
        };
        let report = execute::run(&mut isolate, *spec, &control, &connection).await;
        control.finish();
        if send_report(&writer, report).is_err() {
            return 1;
        }
        // The broker reads this process's peak memory before it lets go.
        while connection.receive().await.is_some() {}
        exit(0)
    })
}

/// Sends the report. A result that no message can carry is one that is too large.
fn send_report(writer: &Writer, report: Report) -> io::Result<()> {
    let Report {
        wall_ms,
        cpu_ms,
        heap_bytes,
        ..
    } = report;
    let size = report
        .result
        .as_ref()
        .ok()
        .and_then(Option::as_ref)
        .map_or(0, |result| result.get().len());
    match writer.send(&FromWorker::Done(Box::new(report))) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let error = RunError::new(
                ErrorKind::Output,
                format!("the result has {size} bytes, more than any limit allows"),
            );
            writer.send(&FromWorker::Done(Box::new(Report {
                result: Err(error),
                wall_ms,
                cpu_ms,
                heap_bytes,
            })))
        }
        sent => sent,
    }
}
