//! Warm workers: started ahead of time, used once.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::conclusion::failed_to_start;
use super::fair_scheduler::{FairScheduler, FairShareKey};
use super::prefork::PreforkedWorker;
use super::process::{Origin, Starter, Worker};
use super::reaper::REPLY_FIRST;
use super::run_loop::{self, OnEvent, RunOptions, RunRequest, Script};
use crate::worker_options::WorkerOptions;
use pml_protocol::{Limits, Outcome, ToolHost};

/// How long a run has the machine to itself before its worker is replaced.
const REFILL_DELAY: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// The program to start workers from; it calls `worker::run_if_requested`.
    pub program: PathBuf,
    /// Workers kept ready; each one taken is replaced.
    pub warm: usize,
    /// Runs at the same time; more of them wait.
    pub running: usize,
    pub limits: Limits,
    pub jit: bool,
    /// Run scripts even where the kernel would not put up every wall.
    pub allow_missing_walls: bool,
}

impl PoolOptions {
    /// Workers from this very program, one warm per core.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            warm: cores(),
            running: (cores() * 8).max(32),
            limits: Limits::default(),
            jit: true,
            allow_missing_walls: false,
        })
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

#[derive(Debug, thiserror::Error)]
enum PoolError {
    #[error("no worker process could be started: {0}")]
    Start(#[from] io::Error),
    #[error("the threads that start workers have ended")]
    Closed,
}

/// A pool of workers. Dropping it ends them all.
pub struct Pool {
    options: PoolOptions,
    // Before the starter: it waits until these are dead.
    warm: Mutex<VecDeque<oneshot::Receiver<io::Result<Worker>>>>,
    starter: Starter,
    scheduler: Arc<FairScheduler>,
    /// A clone for each run that has its worker.
    under_way: Arc<()>,
    cores: usize,
    /// Scheduling key of runs without [`RunOptions::fair_share`].
    unkeyed: FairShareKey,
}

impl Pool {
    pub fn new(options: PoolOptions) -> Self {
        let pool = Self {
            starter: Starter::new(options.program.clone()),
            warm: Mutex::default(),
            scheduler: FairScheduler::new(options.running),
            under_way: Arc::default(),
            cores: cores(),
            unkeyed: FairShareKey::new(),
            options,
        };
        pool.refill(Duration::ZERO);
        pool
    }

    /// Has a worker made ready ahead of its run, beyond those that are kept ready: for a program
    /// that knows it will run one script and has something else to do first. One that was begun
    /// earlier still is taken if it fits.
    pub fn prepare(&self, ahead: Option<PreforkedWorker>) {
        let options = self.warm_options();
        let fits = ahead.as_ref().is_some_and(|ahead| ahead.options == options);
        // One that does not fit is dropped here too, and ended while nobody waits for it.
        let adopted = ahead.and_then(|ahead| self.starter.adopt(ahead));
        let worker = match adopted.filter(|_| fits) {
            Some(worker) => {
                let (ready, receiver) = oneshot::channel();
                // The receiver is right here.
                let _ = ready.send(Ok(worker));
                receiver
            }
            None => self.starter.request(options, Origin::Start, Duration::ZERO),
        };
        self.lock().push_back(worker);
    }

    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Runs a script and gives its outcome; every failure of the script, of its worker and of
    /// the machine is one. `limits` should come from [`Limits::lowered`]. Dropping the future
    /// ends the run.
    pub async fn run(
        &self,
        script: Script,
        limits: Limits,
        host: Arc<dyn ToolHost>,
        on_event: &mut OnEvent<'_>,
    ) -> Outcome {
        let options = RunOptions::default();
        self.run_with(script, options, limits, host, on_event).await
    }

    /// The same, with more to say about the run.
    pub async fn run_with(
        &self,
        script: Script,
        options: RunOptions,
        limits: Limits,
        host: Arc<dyn ToolHost>,
        on_event: &mut OnEvent<'_>,
    ) -> Outcome {
        let key = options.fair_share.as_ref().unwrap_or(&self.unkeyed);
        let permit = self.scheduler.acquire(key).await;
        match self.worker(&limits).await {
            Ok(worker) => {
                worker.set_niceness(permit.niceness());
                let request = RunRequest {
                    script,
                    options,
                    limits,
                    host,
                    allow_missing_walls: self.options.allow_missing_walls,
                };
                self.refill_behind(run_loop::run(worker, request, on_event))
                    .await
            }
            Err(error) => failed_to_start(&error.to_string()),
        }
    }

    /// Replaces the worker that was taken, but not while scripts still need the processors.
    async fn refill_behind(&self, run: impl Future<Output = Outcome>) -> Outcome {
        let under_way = self.under_way.clone();
        let mut run = pin!(run);
        if let Ok(outcome) = timeout(REFILL_DELAY, &mut run).await {
            drop(under_way);
            self.refill_if_idle(self.cores - 1);
            return outcome;
        }
        self.refill_if_idle(self.cores);
        let outcome = run.await;
        drop(under_way);
        self.refill_if_idle(0);
        outcome
    }

    /// Refills unless more runs than these are under way: the last of many refills for all.
    fn refill_if_idle(&self, most: usize) {
        // One is the pool's own.
        if Arc::strong_count(&self.under_way) <= most + 1 {
            self.refill(REPLY_FIRST);
        }
    }

    /// A warm worker, or a fresh one where the limits differ from those the warm ones have.
    async fn worker(&self, limits: &Limits) -> Result<Worker, PoolError> {
        let wanted = WorkerOptions::for_limits(limits, self.options.jit);
        let is_usual = wanted == self.warm_options();
        let origin = if is_usual {
            self.origin()
        } else {
            Origin::Start
        };
        let kept = is_usual.then(|| self.lock().pop_front()).flatten();
        let mut worker =
            kept.unwrap_or_else(|| self.starter.request(wanted, origin, Duration::ZERO));
        let started = match worker.try_recv() {
            Ok(started) => started,
            Err(_not_yet) => {
                self.starter.hurry();
                worker.await.map_err(|_| PoolError::Closed)?
            }
        };
        Ok(started?)
    }

    fn warm_options(&self) -> WorkerOptions {
        WorkerOptions::for_limits(&self.options.limits, self.options.jit)
    }

    fn refill(&self, delay: Duration) {
        let options = self.warm_options();
        let mut warm = self.lock();
        while warm.len() < self.options.warm {
            warm.push_back(self.starter.request(options, self.origin(), delay));
        }
    }

    /// A template is worth its start only to a pool that goes on.
    fn origin(&self) -> Origin {
        if self.options.warm > 0 {
            Origin::Copy
        } else {
            Origin::Start
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<oneshot::Receiver<io::Result<Worker>>>> {
        self.warm.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
