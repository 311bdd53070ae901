//! A pool of warm workers: started ahead of time, each used for one run.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::fair_scheduler::FairScheduler;
use super::outcome::failed_to_start;
use super::prefork::PreforkedWorker;
use super::reaper::REPLY_FIRST;
use super::run_loop::{self, OnEvent, RunOptions, RunRequest, Script};
use super::starter::{Origin, Starter};
use super::worker_process::WorkerProcess;
use crate::worker_options::WorkerOptions;
use pml_protocol::{FairShareKey, Limits, Outcome, RunContext, ToolHost};

/// How long after the start of a run its worker is replaced at the earliest: most runs are over by
/// then, and the replacement does not compete with them for the CPU.
const REFILL_DELAY: Duration = Duration::from_millis(10);

/// The options of a [`Pool`].
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// The program that workers are started from. It calls `worker::run_if_requested` in `main`.
    pub program: PathBuf,
    /// How many workers are kept ready. Each one that a run takes is replaced.
    pub warm: usize,
    /// How many runs are executed at the same time; further ones wait.
    pub running: usize,
    /// The limits of the warm workers. A run with other memory limits gets a new worker.
    pub limits: Limits,
    /// Whether V8 may compile to machine code.
    pub jit: bool,
    /// Runs scripts even where the kernel lacks a part of the sandbox.
    pub allow_missing_walls: bool,
}

impl PoolOptions {
    /// Options with workers from the current program, one of them warm per core.
    ///
    /// # Errors
    ///
    /// If the path of the current program cannot be determined.
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

/// A pool of workers. Dropping it kills and reaps them all.
///
/// ```no_run
/// use std::sync::Arc;
/// use pml_protocol::{Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult};
/// use pml_runtime::{Pool, PoolOptions, Script};
///
/// struct NoTools;
///
/// impl ToolHost for NoTools {
///     fn handle<'a>(&'a self, _: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
///         let failure = Failure::new(FailureKind::Unknown, "there are no tools");
///         Box::pin(async { Err(failure) })
///     }
/// }
///
/// # async fn example() -> std::io::Result<()> {
/// // The program calls `pml_runtime::worker::run_if_requested` first thing in `main`.
/// let pool = Pool::new(PoolOptions::new()?);
/// let script = Script {
///     name: "sum.ts".to_owned(),
///     source: "return 6 * 7".to_owned(),
///     args: Vec::new(),
/// };
/// let limits = *pool.limits();
/// let outcome = pool.run(script, limits, Arc::new(NoTools), &mut |_| {}).await;
/// assert!(outcome.ok);
/// # Ok(())
/// # }
/// ```
pub struct Pool {
    options: PoolOptions,
    // Declared, and so dropped, before the starter, which waits until these are reaped.
    warm: Mutex<VecDeque<oneshot::Receiver<io::Result<WorkerProcess>>>>,
    starter: Starter,
    scheduler: Arc<FairScheduler>,
    /// Cloned for each run that has its worker.
    in_flight: Arc<()>,
    cores: usize,
    /// Scheduling key of runs without [`RunOptions::context`].
    unkeyed: FairShareKey,
}

impl Pool {
    /// A pool with these options. It starts its warm workers at once.
    pub fn new(options: PoolOptions) -> Self {
        let pool = Self {
            starter: Starter::new(options.program.clone()),
            warm: Mutex::default(),
            scheduler: FairScheduler::new(options.running),
            in_flight: Arc::default(),
            cores: cores(),
            unkeyed: FairShareKey::new(),
            options,
        };
        pool.refill(Duration::ZERO);
        pool
    }

    /// Starts a worker ahead of its run, beyond those that are kept ready: for a program that will
    /// run one script and has something else to do first. Uses the preforked worker if its options
    /// are those of this pool, and kills it otherwise.
    pub fn prepare(&self, preforked: Option<PreforkedWorker>) {
        let options = self.warm_options();
        let fits = preforked
            .as_ref()
            .is_some_and(|preforked| preforked.options == options);
        // A worker that does not fit is adopted too: dropping it kills it without waiting for its end.
        let adopted = preforked.and_then(|preforked| self.starter.adopt(preforked));
        let worker = match adopted.filter(|_| fits) {
            Some(worker) => {
                let (ready, receiver) = oneshot::channel();
                // Cannot fail: the receiver is in scope.
                let _ = ready.send(Ok(worker));
                receiver
            }
            None => self.starter.request(options, Origin::Spawn, Duration::ZERO),
        };
        self.lock().push_back(worker);
    }

    /// The limits of [`PoolOptions`].
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The options of a pool for runs that runs of this one wait for: with places of their own, so that
    /// neither waits for the other for ever.
    pub fn options_for_children(&self) -> PoolOptions {
        PoolOptions {
            warm: self.options.warm.min(2),
            ..self.options.clone()
        }
    }

    /// Runs a script and returns its outcome. Every failure of the script, of its worker and of the
    /// machine is an outcome. `limits` should come from [`Limits::lowered`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the run and kills its worker.
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

    /// [`Pool::run`] with [`RunOptions`].
    pub async fn run_with(
        &self,
        script: Script,
        options: RunOptions,
        limits: Limits,
        host: Arc<dyn ToolHost>,
        on_event: &mut OnEvent<'_>,
    ) -> Outcome {
        let key = options.context.as_ref().map(RunContext::fair_share);
        let permit = self.scheduler.acquire(key.unwrap_or(&self.unkeyed)).await;
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

    /// Replaces the worker that the run took, but not while other runs need the CPUs.
    async fn refill_behind(&self, run: impl Future<Output = Outcome>) -> Outcome {
        let in_flight = self.in_flight.clone();
        let mut run = pin!(run);
        if let Ok(outcome) = timeout(REFILL_DELAY, &mut run).await {
            drop(in_flight);
            self.refill_if_idle(self.cores - 1);
            return outcome;
        }
        self.refill_if_idle(self.cores);
        let outcome = run.await;
        drop(in_flight);
        self.refill_if_idle(0);
        outcome
    }

    /// Refills if at most `max_runs` are in flight: the last run of a burst refills for all.
    fn refill_if_idle(&self, max_runs: usize) {
        // The pool itself holds one reference.
        if Arc::strong_count(&self.in_flight) <= max_runs + 1 {
            self.refill(REPLY_FIRST);
        }
    }

    /// A warm worker, or a new one where the limits differ from those of the warm ones.
    async fn worker(&self, limits: &Limits) -> Result<WorkerProcess, PoolError> {
        let options = WorkerOptions::for_limits(limits, self.options.jit);
        let is_warm_kind = options == self.warm_options();
        let origin = if is_warm_kind {
            self.origin()
        } else {
            Origin::Spawn
        };
        let warm = is_warm_kind.then(|| self.lock().pop_front()).flatten();
        let mut worker =
            warm.unwrap_or_else(|| self.starter.request(options, origin, Duration::ZERO));
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

    /// Starting a template only pays off for a pool that keeps workers warm.
    fn origin(&self) -> Origin {
        if self.options.warm > 0 {
            Origin::Fork
        } else {
            Origin::Spawn
        }
    }

    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, VecDeque<oneshot::Receiver<io::Result<WorkerProcess>>>> {
        self.warm.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
