//! Starting worker processes.
//!
//! This happens on a thread of its own: the kernel kills a worker when the *thread* that started it
//! ends, so that thread must live as long as the pool.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::deferred_channel::{Received, Receiver, Sender, deferred_channel};
use super::prefork::PreforkedWorker;
use super::reaper::{Ending, Process, Reaper};
use super::resource_monitor::ResourceMonitor;
use super::template::{self, Templates};
use crate::worker_options::WorkerOptions;

/// A process and our end of the connection to it.
pub struct Worker {
    process: Option<Process>,
    pub socket: Option<StdUnixStream>,
    /// Nothing where the kernel does not show what the process uses.
    pub monitor: Option<ResourceMonitor>,
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
    requests: Sender<Request>,
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
    pub fn adopt(&self, ahead: PreforkedWorker) -> Option<Worker> {
        let (process, socket) = ahead.take()?;
        Some(Worker::new(process, socket, self.adopted.clone()))
    }

    /// Asks for a worker, at once or after `delay`; the receiver hears when there is a process.
    pub fn request(
        &self,
        options: WorkerOptions,
        origin: Origin,
        delay: Duration,
    ) -> oneshot::Receiver<io::Result<Worker>> {
        let (started, worker) = oneshot::channel();
        let start = Start {
            options,
            origin,
            due: Instant::now() + delay,
            started,
        };
        self.tell(Request::Start(start), delay);
        worker
    }

    /// Has the next worker started that was to be started later.
    pub fn hurry(&self) {
        self.tell(Request::Hurry, Duration::ZERO);
    }

    /// Where threads cannot be begun the request is dropped, and whoever waits for a worker hears of
    /// that.
    fn tell(&self, request: Request, within: Duration) {
        let begin = || Threads::begin(self.program.clone()).ok();
        if let Some(threads) = self.threads.get_or_init(begin) {
            let _ = threads.requests.send(request, within);
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
        let (requests, incoming) = deferred_channel()?;
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

fn start_all(incoming: &Receiver<Request>, mut templates: Templates, reaper: &Reaper) {
    let mut later = VecDeque::new();
    while let Some(start) = next(incoming, &mut later) {
        let worker = match start.origin {
            Origin::Start => template::start(templates.program(), start.options),
            Origin::Copy => templates.copy(start.options),
        };
        let worker = worker.map(|(process, socket)| Worker::new(process, socket, reaper.clone()));
        // A pool that was dropped meanwhile drops the worker, which ends it.
        let _ = start.started.send(worker);
    }
}

/// The next worker to start: one that is due, or that somebody is in a hurry for. `None` when there
/// is nobody left to ask.
fn next(incoming: &Receiver<Request>, later: &mut VecDeque<Start>) -> Option<Start> {
    loop {
        let next_due = later.front().map(|first| first.due);
        match incoming.receive(next_due) {
            Received::Message(Request::Start(start)) if start.due > Instant::now() => {
                later.push_back(start);
            }
            Received::Message(Request::Start(start)) => return Some(start),
            Received::Message(Request::Hurry) if later.is_empty() => {}
            Received::Message(Request::Hurry) | Received::TimeUp => return later.pop_front(),
            Received::Closed => return None,
        }
    }
}

impl Worker {
    fn new(process: Process, socket: StdUnixStream, reaper: Reaper) -> Self {
        Self {
            monitor: ResourceMonitor::of(process.0),
            process: Some(process),
            socket: Some(socket),
            reaper,
        }
    }

    /// Lets others have the processor first.
    pub fn set_niceness(&self, niceness: i32) {
        let Some(process) = self.process.as_ref().filter(|_| niceness > 0) else {
            return;
        };
        // SAFETY: plain system call. The group is that of the worker's threads.
        unsafe { libc::setpriority(libc::PRIO_PGRP, process.0.cast_unsigned(), niceness) };
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
