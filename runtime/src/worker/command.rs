//! The life of a worker process, from its command line to its exit.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use pml_protocol::message::{FromWorker, Report, Returned, ToWorker};
use pml_protocol::{ErrorKind, RunError};
use tokio::runtime::Runtime;

use super::connection::{Connection, Writer};
use super::control::Control;
use super::isolate::Isolate;
use super::os::late_threads;
use super::walls::Walls;
use super::{execute, isolate, template, walls};
use crate::worker_options::{Role, WorkerCommand, WorkerOptions, is_worker};

/// How many rehearsals it takes until V8 has compiled what every run uses.
const REHEARSALS: usize = 32;

/// A forked worker that has no script after this time runs a rehearsal of its own.
const IDLE_AFTER: Duration = Duration::from_millis(5);

/// How long a forked worker waits to be killed. The broker does so much earlier.
const LINGER: Duration = Duration::from_secs(1);

/// The connection arrives as standard input: the one descriptor that `posix_spawn` can hand over
/// without running code between fork and exec.
const SOCKET: RawFd = 0;

/// Turns this process into a worker if it was started as one, and does not return then.
///
/// Call it first thing in `main`, before any thread exists: V8 must be initialised on the first
/// thread, and landlock binds only the calling thread and those it starts.
pub fn run_if_requested() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if !is_worker(&args) {
        return;
    }
    exit(match WorkerCommand::parse(&args) {
        Some(command) => run_command(&command),
        None => 2,
    })
}

fn run_command(command: &WorkerCommand) -> i32 {
    abort_on_panic();
    let then = after_start(&command.rest);
    match command.role {
        Role::Worker => run_worker(command.parent, command.options, then),
        Role::Template => run_template(command.parent, command.options, then),
    }
}

/// Turns this process, a fork of one that has done nothing yet, into a worker.
pub(crate) fn become_worker(parent: libc::pid_t, options: WorkerOptions, socket: &OwnedFd) -> ! {
    // SAFETY: takes two integers. The caller keeps `socket` open, and no code of a worker reads the
    // standard input that is replaced.
    unsafe { libc::dup2(socket.as_raw_fd(), SOCKET) };
    abort_on_panic();
    exit(run_worker(parent, options, Then::RunScript))
}

/// Ends the process at a panic while it starts; [`Control`] replaces this once it can report panics.
/// Nothing is printed: the message may quote the script.
fn abort_on_panic() {
    std::panic::set_hook(Box::new(|_| std::process::abort()));
}

/// What a worker does when it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    RunScript,
    /// It tries to break out with native code, and reports what happened. Release builds cannot.
    #[cfg(debug_assertions)]
    ProbeWalls,
    /// One of its threads panics. Release builds cannot.
    #[cfg(debug_assertions)]
    Panic,
}

#[cfg(debug_assertions)]
fn after_start(rest: &[OsString]) -> Then {
    match super::probe::is_requested(rest) {
        true => Then::ProbeWalls,
        false if super::probe::is_panic_requested(rest) => Then::Panic,
        false => Then::RunScript,
    }
}

#[cfg(not(debug_assertions))]
fn after_start(_: &[OsString]) -> Then {
    Then::RunScript
}

/// Ends the process without running destructors: V8's teardown is slow, and nothing in this process
/// outlives it.
fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(code) }
}

/// A worker that was started for one script.
fn run_worker(parent: libc::pid_t, options: WorkerOptions, then: Then) -> i32 {
    let startup = Startup::new(parent, options);
    // Its script already waits, so it does not rehearse.
    let Some(isolate) = startup.isolate(0) else {
        return 1;
    };
    let Some(event_loop) = event_loop() else {
        return 1;
    };
    let leave = |sent: io::Result<()>| exit(i32::from(sent.is_err()));
    startup.serve(isolate, &event_loop, then, leave)
}

/// A template. What follows the fork runs in its children, each of which is a worker.
fn run_template(parent: libc::pid_t, options: WorkerOptions, then: Then) -> i32 {
    template::keep_code_in_forks();
    let mut startup = Startup::new(parent, options);
    let Some(mut isolate) = startup.isolate(REHEARSALS) else {
        return 1;
    };
    template::fork_for_each_socket(SOCKET);
    startup.walls.around_fork(parent);
    let Some(event_loop) = event_loop() else {
        return 1;
    };
    if !startup.writer.is_readable_within(IDLE_AFTER) {
        // Touches the copy-on-write pages that the fork still shares. Before its threads begin:
        // each such page fault interrupts the CPUs of all threads (TLB shootdown). Not while
        // scripts wait for workers, where it would be a quarter of all work.
        event_loop.block_on(execute::rehearse(&mut isolate, "own-rehearsal.ts"));
    }
    let leave = |sent: io::Result<()>| {
        // Exiting is work too, and the broker would wait for the CPU meanwhile. It kills this
        // process once the report is delivered.
        std::thread::sleep(LINGER);
        exit(i32::from(sent.is_err()))
    };
    startup.serve(isolate, &event_loop, then, leave)
}

/// What a worker has before its isolate: the walls that apply to one thread, and its connection.
struct Startup {
    options: WorkerOptions,
    walls: Walls,
    writer: Arc<Writer>,
    control: Arc<Control>,
}

impl Startup {
    fn new(parent: libc::pid_t, options: WorkerOptions) -> Self {
        let walls = walls::before_threads(parent, SOCKET, &options);
        // SAFETY: the broker passed the socket as this descriptor, and it has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(SOCKET) };
        let writer = Arc::new(Writer::new(socket));
        let control = Arc::new(Control::new(writer.clone()));
        late_threads::hold();
        isolate::init_platform(options.jit);
        Self {
            options,
            walls,
            writer,
            control,
        }
    }

    /// The isolate, warmed up by rehearsals. The event loop of this phase has no descriptors, so
    /// that forks do not share any.
    fn isolate(&self, rehearsals: usize) -> Option<Isolate> {
        let event_loop = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .ok()?;
        Some(event_loop.block_on(async {
            let mut isolate = isolate::create(&self.options, self.control.clone());
            for index in 0..rehearsals {
                execute::rehearse(&mut isolate, &format!("rehearsal-{index}.ts")).await;
            }
            if rehearsals > 0 {
                template::forget_code();
                execute::rehearse(&mut isolate, "last-rehearsal.ts").await;
            }
            isolate
        }))
    }

    /// Installs the last walls, reports that the worker is ready, runs its script, sends the report,
    /// and calls `leave`.
    fn serve(
        mut self,
        mut isolate: Isolate,
        event_loop: &Runtime,
        then: Then,
        leave: impl FnOnce(io::Result<()>) -> i32,
    ) -> i32 {
        late_threads::begin();
        self.control.watch(&mut isolate.runtime);
        event_loop.block_on(async {
            let Ok(connection) = Connection::new(self.writer.clone()) else {
                return 1;
            };
            isolate.connect(connection.clone());
            #[cfg(debug_assertions)]
            if then == Then::ProbeWalls {
                super::probe::before_seccomp(&self.writer, &isolate.runtime);
            }
            #[cfg(debug_assertions)]
            if then == Then::Panic {
                super::probe::panic_in_a_thread();
                exit(0);
            }
            self.walls.after_threads(&self.options);
            let missing_walls = self.walls.missing();
            let is_walled = missing_walls.is_empty();
            let ready = FromWorker::Ready { missing_walls };
            if self.writer.send(&ready).is_err() {
                return 1;
            }
            match then {
                Then::RunScript => {}
                #[cfg(debug_assertions)]
                Then::ProbeWalls => {
                    super::probe::behind_all_walls(&self.writer);
                    exit(0);
                }
                #[cfg(debug_assertions)]
                Then::Panic => exit(0),
            }
            let Some(ToWorker::Run(spec)) = connection.receive().await else {
                // The pool was dropped: this warm worker is not needed.
                exit(0);
            };
            if !is_walled && !spec.allow_missing_walls {
                // The broker knows why from `Ready`.
                exit(1);
            }
            let report = execute::run(&mut isolate, *spec, &self.control, &connection).await;
            self.control.finish();
            leave(send_report(&self.writer, report))
        })
    }
}

fn event_loop() -> Option<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .ok()
}

/// Sends the report. A result that is over the frame limit becomes an error of kind `output`.
fn send_report(writer: &Writer, report: Report) -> io::Result<()> {
    let stats = report.stats;
    let size = match &report.result {
        Ok(Returned::Json(result)) => result.get().len(),
        _ => 0,
    };
    match writer.send(&FromWorker::Done(Box::new(report))) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let message = format!("the result has {size} bytes, more than any limit allows");
            let result = Err(RunError::new(ErrorKind::Output, message));
            writer.send(&FromWorker::Done(Box::new(Report { result, stats })))
        }
        sent => sent,
    }
}
