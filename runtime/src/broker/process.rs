//! Starting worker processes.
//!
//! This happens on a thread of its own: the kernel kills a worker when the *thread* that started it
//! ends, so that thread must live as long as the pool.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::ahead::Ahead;
use super::reaper::{Ending, Process, Reaper};
use super::template::{self, Templates};
use crate::worker::WorkerOptions;

/// A process and our end of the connection to it.
pub struct Worker {
    process: Option<Process>,
    pub socket: Option<StdUnixStream>,
    reaper: Reaper,
}

/// Where a worker comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A program is started: for one worker, or for limits that no other has.
    Start,
    /// A template is copied, which is started before the first copy.
    Copy,
}

/// What the thread that starts workers hears.
enum Request {
    Start(Start),
    /// Somebody waits for the next worker that was to be started later.
    Hurry,
}

struct Start {
    options: WorkerOptions,
    origin: Origin,
    due: Instant,
    started: oneshot::Sender<io::Result<Worker>>,
}

/// Starts workers, in the order in which they are due. Dropping it waits until all are dead.
pub struct Starter {
    program: PathBuf,
    /// Begun for the first worker that is asked for: a program that runs one script may have its
    /// worker already.
    threads: OnceLock<Option<Threads>>,
    adopted: Reaper,
}

struct Threads {
    requests: mpsc::Sender<Request>,
    starting: JoinHandle<()>,
    reaping: JoinHandle<()>,
}

impl Starter {
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            threads: OnceLock::new(),
            adopted: Reaper::last(),
        }
    }

    /// Takes over a worker that was begun before there was a pool.
    pub fn adopt(&self, ahead: Ahead) -> Option<Worker> {
        let (process, socket) = ahead.take()?;
        Some(Worker {
            process: Some(process),
            socket: Some(socket),
            reaper: self.adopted.clone(),
        })
    }

    /// Asks for a worker, at once or after `delay`; the receiver hears when there is a process.
    pub fn request(
        &self,
        options: WorkerOptions,
        origin: Origin,
        delay: Duration,
    ) -> oneshot::Receiver<io::Result<Worker>> {
        let (started, worker) = oneshot::channel();
        self.tell(Request::Start(Start {
            options,
            origin,
            due: Instant::now() + delay,
            started,
        }));
        worker
    }

    /// Has the next worker started that was to be started later.
    pub fn hurry(&self) {
        self.tell(Request::Hurry);
    }

    /// Where threads cannot be begun the request is dropped, and whoever waits for a worker hears of
    /// that.
    fn tell(&self, request: Request) {
        let begin = || Threads::begin(self.program.clone()).ok();
        if let Some(threads) = self.threads.get_or_init(begin) {
            let _ = threads.requests.send(request);
        }
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take().flatten() {
            // One ends when nobody can ask for a worker any more, and the other when the first has.
            drop(threads.requests);
            let _ = threads.starting.join();
            let _ = threads.reaping.join();
        }
        self.adopted.finish();
    }
}

impl Threads {
    fn begin(program: PathBuf) -> io::Result<Self> {
        let (reaper, reaping) = Reaper::on_thread()?;
        let (requests, incoming) = mpsc::channel();
        let start = move || start_all(&incoming, Templates::new(program), &reaper);
        Ok(Self {
            requests,
            starting: thread("pml-starter", start)?,
            reaping,
        })
    }
}

pub fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(body)
}

fn start_all(incoming: &mpsc::Receiver<Request>, mut templates: Templates, reaper: &Reaper) {
    let mut later = VecDeque::new();
    while let Some(start) = next(incoming, &mut later) {
        let worker = match start.origin {
            Origin::Start => template::start(templates.program(), start.options),
            Origin::Copy => templates.copy(start.options),
        };
        let worker = worker.map(|(process, socket)| Worker {
            process: Some(process),
            socket: Some(socket),
            reaper: reaper.clone(),
        });
        // A pool that was dropped meanwhile drops the worker, which ends it.
        let _ = start.started.send(worker);
    }
}

/// The next worker to start: one that is due, or that somebody is in a hurry for. `None` when there
/// is nobody left to ask.
fn next(incoming: &mpsc::Receiver<Request>, later: &mut VecDeque<Start>) -> Option<Start> {
    loop {
        let heard = match later.front() {
            Some(first) => {
                let wait = first.due.saturating_duration_since(Instant::now());
                incoming.recv_timeout(wait)
            }
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(Request::Start(start)) if start.due > Instant::now() => later.push_back(start),
            Ok(Request::Start(start)) => return Some(start),
            Ok(Request::Hurry) if later.is_empty() => {}
            Ok(Request::Hurry) | Err(RecvTimeoutError::Timeout) => return later.pop_front(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

impl Worker {
    /// Lets others have the processor first.
    pub fn stand_back(&self, niceness: i32) {
        let Some(process) = self.process.as_ref().filter(|_| niceness > 0) else {
            return;
        };
        // SAFETY: plain system call. The group is that of the worker's threads.
        unsafe { libc::setpriority(libc::PRIO_PGRP, process.0.cast_unsigned(), niceness) };
    }

    /// A gauge of what the process uses.
    pub fn gauge(&self) -> Option<Gauge> {
        let pid = self.process.as_ref()?.0;
        // SAFETY: plain system call.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(Gauge {
            pid,
            path: format!("/proc/{pid}/statm"),
            page_bytes: u64::try_from(page).unwrap_or(4096),
        })
    }

    /// Ends the process and tells how it had ended, if it had done so by itself.
    pub async fn end(mut self) -> Option<Ending> {
        let process = self.process.take()?;
        self.reaper.end(process).await
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            self.reaper.take(process);
        }
    }
}

/// Reads what a process uses.
pub struct Gauge {
    pid: libc::pid_t,
    path: String,
    page_bytes: u64,
}

impl Gauge {
    /// Processor time of all threads so far. `None` when the process is gone.
    pub fn cpu_time(&self) -> Option<Duration> {
        let mut clock = 0;
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: both are ours to fill.
        let is_read = unsafe {
            libc::clock_getcpuclockid(self.pid, &raw mut clock) == 0
                && libc::clock_gettime(clock, &raw mut time) == 0
        };
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let nanos = u32::try_from(time.tv_nsec).ok()?;
        is_read.then(|| Duration::new(seconds, nanos))
    }

    /// Memory that it holds right now. `None` when the process is gone, or cannot be seen.
    pub fn resident_bytes(&self) -> Option<u64> {
        let sizes = std::fs::read_to_string(&self.path).ok()?;
        let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page_bytes)
    }
}
