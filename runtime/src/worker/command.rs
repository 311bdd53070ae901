//! How a process becomes a worker.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::connection::{Connection, Writer};
use super::control::Control;
use super::isolate::Isolate;
use super::{execute, isolate, late_threads, probe, template, walls};
use crate::limits::Limits;
use crate::outcome::{ErrorKind, RunError};
use crate::protocol::{FromWorker, Report, Returned, ToWorker};

/// Not a subcommand anyone would type.
const WORKER: &str = "__pml_worker";

/// The word after the numbers, for a template.
const TEMPLATE: &str = "template";

/// Until V8 has compiled what every run does.
const REHEARSALS: usize = 32;

/// A copy that has no script by then has time.
const CALM: Duration = Duration::from_millis(5);

/// The broker ends a worker long before.
const LINGER: Duration = Duration::from_secs(1);

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

/// What becomes of a worker that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs one script.
    Worker,
    /// It is copied; each copy runs one script.
    Template,
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
    pub(crate) fn apply(self, role: Role, command: &mut Command) {
        command
            .arg(WORKER)
            .arg(std::process::id().to_string())
            .arg(self.heap_bytes.to_string())
            .arg(self.buffer_bytes.to_string())
            .arg(u8::from(self.jit).to_string());
        if role == Role::Template {
            command.arg(TEMPLATE);
        }
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
        Some((parent, options)) => {
            let is_template = words.iter().any(|word| word == TEMPLATE);
            let role = if is_template {
                Role::Template
            } else {
                Role::Worker
            };
            work(parent, options, role, probe::requested(&words))
        }
        None => 2,
    };
    exit(code)
}

/// Turns this process, a copy of one that has done nothing yet, into a worker.
pub(crate) fn become_one(parent: libc::pid_t, options: WorkerOptions, socket: &OwnedFd) -> ! {
    // SAFETY: whatever was standard input is nobody's in a worker.
    unsafe { libc::dup2(socket.as_raw_fd(), SOCKET) };
    exit(work(parent, options, Role::Worker, false))
}

/// Ends the process without running destructors: V8's teardown is slow, and nothing in this
/// process outlives it.
fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(code) }
}

fn work(parent: libc::pid_t, options: WorkerOptions, role: Role, probe: bool) -> i32 {
    if role == Role::Template {
        template::keep_code_in_copies();
    }
    let mut walls = walls::before_threads(parent, SOCKET, &options);
    // SAFETY: the broker passed the socket as this descriptor, and nobody else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(SOCKET) };
    let writer = Arc::new(Writer::new(socket));
    let control = Arc::new(Control::new(writer.clone()));

    late_threads::hold();
    isolate::init_platform(options.jit);
    let Some(mut isolate) = prepare(&options, role, &control) else {
        return 1;
    };
    if role == Role::Template {
        template::serve(SOCKET);
        walls.around_copy(parent);
    }
    let Ok(event_loop) = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
    else {
        return 1;
    };
    if role == Role::Template && !writer.has_news_within(CALM) {
        // Again: a copy has to touch for itself what it shares until then. Before its threads
        // begin, because the kernel tells the processors of all threads about every such page. Where
        // scripts wait for workers, that would be a quarter of all there is to do.
        event_loop.block_on(execute::rehearse(&mut isolate, "own-rehearsal.ts"));
    }
    late_threads::begin();
    control.watch(&mut isolate.runtime);
    event_loop.block_on(async {
        let Ok(connection) = Connection::new(writer.clone()) else {
            return 1;
        };
        isolate.connect(connection.clone());
        if probe {
            probe::list_ops(&writer, &isolate.runtime);
            probe::run(&writer, "before seccomp");
        }
        walls.after_threads(&options);
        let missing_walls = walls.missing();
        let is_walled = missing_walls.is_empty();
        let ready = FromWorker::Ready { missing_walls };
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
        if !is_walled && !spec.allow_missing_walls {
            // The broker has heard why.
            exit(1);
        }
        let report = execute::run(&mut isolate, *spec, &control, &connection).await;
        control.finish();
        let sent = send_report(&writer, report);
        if role == Role::Template {
            // To leave is work too, and the broker would wait for the processor meanwhile. It ends
            // this process when the report has had its time.
            std::thread::sleep(LINGER);
        }
        exit(i32::from(sent.is_err()))
    })
}

/// The isolate; in a template, with everything touched that a script will touch. The event loop
/// of this time has no descriptors, so that copies of the process do not share any.
fn prepare(options: &WorkerOptions, role: Role, control: &Arc<Control>) -> Option<Isolate> {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .ok()?;
    Some(event_loop.block_on(async {
        let mut isolate = isolate::create(options, control.clone());
        // A script already waits for any other worker.
        if role == Role::Template {
            for number in 0..REHEARSALS {
                execute::rehearse(&mut isolate, &format!("rehearsal-{number}.ts")).await;
            }
            template::forget_code();
            execute::rehearse(&mut isolate, "last-rehearsal.ts").await;
        }
        isolate
    }))
}

/// Sends the report. A result that no message can carry is one that is too large.
fn send_report(writer: &Writer, report: Report) -> io::Result<()> {
    let Report {
        wall_ms,
        cpu_ms,
        heap_bytes,
        peak_rss_bytes,
        ..
    } = report;
    let size = match &report.result {
        Ok(Returned::Json(result)) => result.get().len(),
        _ => 0,
    };
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
                peak_rss_bytes,
            })))
        }
        sent => sent,
    }
}
