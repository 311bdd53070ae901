//! Starts worker processes.
//!
//! Workers start on a thread of their own: the kernel kills a worker when the *thread* that started
//! it ends (`PR_SET_PDEATHSIG`), so that thread must live as long as the pool.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::background_thread::background_thread;
use super::deferred_channel::{Received, Receiver, Sender, deferred_channel};
use super::prefork::PreforkedWorker;
use super::reaper::Reaper;
use super::spawn::{ProcessAndSocket, spawn_worker};
use super::template::Template;
use super::worker_process::WorkerProcess;
use crate::worker_options::WorkerOptions;

/// How a worker is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Spawned from the program: for a single worker, or for limits that no other worker has.
    Spawn,
    /// Forked from the template, which is started before the first fork.
    Fork,
}

/// A message to the starter thread.
enum StarterMessage {
    Start(StartRequest),
    /// A run waits for a worker: start the next delayed one now.
    Hurry,
}

struct StartRequest {
    options: WorkerOptions,
    origin: Origin,
    start_at: Instant,
    started: oneshot::Sender<io::Result<WorkerProcess>>,
}

/// Starts workers, in the order in which they are due. Dropping it waits until all are reaped.
pub struct Starter {
    program: PathBuf,
    /// Started with the first request: a program that runs one script may have its worker already.
    threads: OnceLock<Option<StarterThreads>>,
    /// Reaps the preforked worker.
    adopted: Reaper,
}

struct StarterThreads {
    messages: Sender<StarterMessage>,
    starter: JoinHandle<()>,
    reaper: JoinHandle<()>,
}

impl Starter {
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            threads: OnceLock::new(),
            adopted: Reaper::on_drop(),
        }
    }

    /// Takes over a worker that was forked before the pool existed.
    pub fn adopt(&self, preforked: PreforkedWorker) -> Option<WorkerProcess> {
        let (process, socket) = preforked.take()?;
        Some(WorkerProcess::new(process, socket, self.adopted.clone()))
    }

    /// Requests a worker after `delay`. The receiver gets it once its process exists.
    pub fn request(
        &self,
        options: WorkerOptions,
        origin: Origin,
        delay: Duration,
    ) -> oneshot::Receiver<io::Result<WorkerProcess>> {
        let (started, worker) = oneshot::channel();
        let request = StartRequest {
            options,
            origin,
            start_at: Instant::now() + delay,
            started,
        };
        self.send(StarterMessage::Start(request), delay);
        worker
    }

    /// Starts the next delayed worker now.
    pub fn hurry(&self) {
        self.send(StarterMessage::Hurry, Duration::ZERO);
    }

    /// Where threads cannot be started the message is dropped, and its receiver is closed.
    fn send(&self, message: StarterMessage, within: Duration) {
        let start = || StarterThreads::start(self.program.clone()).ok();
        if let Some(threads) = self.threads.get_or_init(start) {
            let _ = threads.messages.send(message, within);
        }
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take().flatten() {
            // Ends the starter thread, which holds a sender of the reaper thread.
            drop(threads.messages);
            let _ = threads.starter.join();
            let _ = threads.reaper.join();
        }
        self.adopted.finish();
    }
}

impl StarterThreads {
    fn start(program: PathBuf) -> io::Result<Self> {
        let (reaper, reaper_thread) = Reaper::on_thread()?;
        let (messages, incoming) = deferred_channel()?;
        let body = move || start_all(&incoming, WorkerFactory::new(program), &reaper);
        Ok(Self {
            messages,
            starter: background_thread("pml-starter", body)?,
            reaper: reaper_thread,
        })
    }
}

fn start_all(incoming: &Receiver<StarterMessage>, mut factory: WorkerFactory, reaper: &Reaper) {
    let mut delayed = VecDeque::new();
    while let Some(request) = next(incoming, &mut delayed) {
        let worker = match request.origin {
            Origin::Spawn => factory.spawn(request.options),
            Origin::Fork => factory.fork(request.options),
        };
        let worker =
            worker.map(|(process, socket)| WorkerProcess::new(process, socket, reaper.clone()));
        // A pool that was dropped meanwhile drops the worker, which kills it.
        let _ = request.started.send(worker);
    }
}

/// The next worker to start: one that is due, or a delayed one that a run waits for. `None` when all
/// senders are gone.
fn next(
    incoming: &Receiver<StarterMessage>,
    delayed: &mut VecDeque<StartRequest>,
) -> Option<StartRequest> {
    loop {
        let next_start = delayed.front().map(|first| first.start_at);
        match incoming.receive(next_start) {
            Received::Message(StarterMessage::Start(request))
                if request.start_at > Instant::now() =>
            {
                delayed.push_back(request);
            }
            Received::Message(StarterMessage::Start(request)) => return Some(request),
            Received::Message(StarterMessage::Hurry) if delayed.is_empty() => {}
            Received::Message(StarterMessage::Hurry) | Received::TimedOut => {
                return delayed.pop_front();
            }
            Received::Closed => return None,
        }
    }
}

/// Makes worker processes from the program, or from a template that it keeps.
struct WorkerFactory {
    program: PathBuf,
    template: Option<Template>,
}

impl WorkerFactory {
    fn new(program: PathBuf) -> Self {
        Self {
            program,
            template: None,
        }
    }

    fn spawn(&self, options: WorkerOptions) -> io::Result<ProcessAndSocket> {
        spawn_worker(&self.program, options)
    }

    /// Forks a worker from the template. Where that fails, spawns one, which is slower.
    fn fork(&mut self, options: WorkerOptions) -> io::Result<ProcessAndSocket> {
        let forked = self.template(options).and_then(Template::fork);
        forked.or_else(|_| {
            // A template that failed once is not used again.
            self.template = None;
            self.spawn(options)
        })
    }

    fn template(&mut self, options: WorkerOptions) -> io::Result<&Template> {
        let fits = |template: &Template| template.options() == options;
        if !self.template.as_ref().is_some_and(fits) {
            self.template = Some(Template::start(&self.program, options)?);
        }
        self.template
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
