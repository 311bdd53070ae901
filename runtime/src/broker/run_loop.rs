//! The broker's side of one run: receives the worker's messages, sends answers, and ends the run in
//! any case.
//!
//! The broker trusts nothing that a worker sends. It enforces every limit of the worker again, and a
//! worker that breaks the protocol, hangs or dies becomes an outcome like any other.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use pml_protocol::message::{FromWorker, Report, RunSpec, ToWorker};
use pml_protocol::{
    CallRecord, ControlState, ErrorKind, Failure, FailureKind, HostFuture, Level, Limits, LogLine,
    Outcome, PrefetchPlan, Request, RunContext, RunError, RunFlow, SpeculatedCall, Speculation,
    SpeculationStats, Stats, TestSpec, TimerMode, ToolHost, VirtualClock, millis,
};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::budget::Budget;
use super::call_log::CallLog;
use super::deadline::{Deadline, DeadlineEvent};
use super::outcome::{Stage, crash_error, explain, failed_to_start, outcome_of};
use super::pending::{Answered, Ask, PendingRequests, logged_id};
use super::process::Ending;
use super::resource_monitor::ResourceMonitor;
use super::worker_link::WorkerLink;
use super::worker_process::WorkerProcess;

/// How long a fresh process may take to start on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(20);
/// How long a worker has to end a run by itself after a limit was crossed.
const GRACE: Duration = Duration::from_millis(250);
/// How long a run in which every open request is suspended may go on computing.
const SUSPEND_AFTER: Duration = Duration::from_millis(50);
/// How often the worker's memory and CPU time are sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);

/// A script to run.
#[derive(Debug, Clone)]
pub struct Script {
    /// The file name in messages and stack traces, for instance `audit.ts`.
    pub name: String,
    /// TypeScript or JavaScript.
    pub source: String,
    /// What the script sees as `args`.
    pub args: Vec<String>,
}

/// Options of a run besides its script, limits and tools.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The run's identity, and for whom it is scheduled; `None` for a run of the local user.
    pub context: Option<RunContext>,
    /// Deterministic time and randomness; `None` for the real ones.
    pub clock: Option<VirtualClock>,
    /// The secret that `crypto` draws from on a virtual clock; `None` for the clock's seed.
    pub entropy: Option<[u8; 32]>,
    /// What timers do on a virtual clock.
    pub timers: TimerMode,
    /// Makes calls before the script makes them.
    pub speculation: Speculation,
    /// Set for a test file.
    pub test: Option<TestSpec>,
}

/// An event of a run, reported while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The worker has the script.
    Started,
    /// The script was translated to JavaScript.
    Parsed {
        /// How long that took.
        micros: u64,
    },
    /// A call that was made before the script made it, reported when the run has ended.
    Speculated(&'a SpeculatedCall),
    /// A line of the console.
    Log(&'a LogLine),
    /// A tool call was requested.
    CallStarted {
        /// Its index among the calls of the run.
        index: usize,
        /// The id that the script called.
        tool: &'a str,
    },
    /// A tool call was answered.
    CallEnded {
        /// Its index among the calls of the run.
        index: usize,
        /// How it ended.
        call: &'a CallRecord,
    },
}

/// Receives the [`Event`]s of a run.
pub type OnEvent<'a> = dyn FnMut(Event<'_>) + Send + 'a;

/// Everything that a run needs except its worker.
pub struct RunRequest {
    pub script: Script,
    pub options: RunOptions,
    pub limits: Limits,
    pub host: Arc<dyn ToolHost>,
    pub allow_missing_walls: bool,
}

/// Runs a script in a worker.
pub async fn run(
    mut worker: WorkerProcess,
    request: RunRequest,
    on_event: &mut OnEvent<'_>,
) -> Outcome {
    let limits = request.limits;
    let size = request.script.source.len() as u64;
    if size > limits.source_bytes {
        let limit = limits.source_bytes;
        return outcome_of(Err(RunError::new(
            ErrorKind::Syntax,
            format!("the script has {size} bytes; the limit is {limit}"),
        )));
    }
    let link = match worker.socket.take().map(WorkerLink::new) {
        Some(Ok(link)) => link,
        Some(Err(error)) => return failed_to_start(&error.to_string()),
        None => return failed_to_start("the worker has no connection"),
    };
    let source = request.script.source.clone();
    let (spec, mut run) = ActiveRun::new(request, link, worker.monitor.take(), on_event);
    let ended = run.until_end(spec).await;
    let ending = match &ended {
        Ended::Reported(_) => {
            drop(worker);
            None
        }
        Ended::Lost | Ended::Stopped => worker.end().await,
    };
    run.conclude(ended, ending, &source)
}

/// Polls the calls that are made ahead of time.
async fn ended(speculating: &mut Option<HostFuture<'static, ()>>) {
    match speculating {
        Some(speculating) => speculating.await,
        None => std::future::pending().await,
    }
}

/// Returns at this time; never if there is none.
async fn passed(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

enum Ended {
    /// The worker sent its report.
    Reported(Box<Report>),
    /// The worker is gone.
    Lost,
    /// The broker ended the run; the verdict says why.
    Stopped,
}

struct ActiveRun<'e> {
    link: WorkerLink,
    monitor: Option<ResourceMonitor>,
    samples: Interval,
    limits: Limits,
    allow_missing_walls: bool,
    started: Instant,
    deadline: Deadline,
    control: watch::Receiver<ControlState>,
    /// When the run ends because every open request is suspended.
    suspend_at: Option<Instant>,
    stage: Stage,
    /// Why the run has no result. The first verdict stands.
    verdict: Option<RunError>,
    budget: Budget,
    flow: RunFlow,
    pending: PendingRequests,
    context: RunContext,
    speculation: Speculation,
    /// The calls that are made ahead of time, once they are known.
    speculating: Option<HostFuture<'static, ()>>,
    calls: CallLog,
    logs: Vec<LogLine>,
    on_event: &'e mut OnEvent<'e>,
}

impl<'e> ActiveRun<'e> {
    fn new(
        request: RunRequest,
        link: WorkerLink,
        monitor: Option<ResourceMonitor>,
        on_event: &'e mut OnEvent<'_>,
    ) -> (RunSpec, Self) {
        let RunRequest {
            script,
            options,
            limits,
            host,
            allow_missing_walls,
        } = request;
        let mut samples = interval_at(Instant::now() + SAMPLE_INTERVAL, SAMPLE_INTERVAL);
        samples.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let context = options.context.unwrap_or_else(RunContext::local);
        let has_harness = options.test.is_some() || options.clock.is_some();
        let spec = RunSpec {
            name: script.name,
            source: script.source,
            args: script.args,
            limits,
            allow_missing_walls,
            clock: options.clock,
            entropy: options.entropy,
            timers: options.timers,
            prefetch: options.speculation.0.is_some(),
            test: options.test,
        };
        let run = Self {
            link,
            monitor,
            samples,
            limits,
            allow_missing_walls,
            started: Instant::now(),
            deadline: Deadline::after(START_LIMIT, context.clock()),
            control: context.control().watch(),
            suspend_at: None,
            stage: Stage::Starting,
            verdict: None,
            budget: Budget::new(limits, has_harness, context.fair_share().clone()),
            flow: context.flow().clone(),
            pending: PendingRequests::new(host, context.clone()),
            context,
            speculation: options.speculation,
            speculating: None,
            calls: CallLog::default(),
            logs: Vec::new(),
            on_event,
        };
        (spec, run)
    }

    async fn until_end(&mut self, spec: RunSpec) -> Ended {
        if let Err(error) = self.link.send(&ToWorker::Run(Box::new(spec))) {
            return self.stop(RunError::new(ErrorKind::Internal, error.to_string()));
        }
        loop {
            tokio::select! {
                // The deadline first: a worker that floods the broker with messages must not delay it.
                biased;
                event = self.deadline.next() => match event {
                    DeadlineEvent::Passed => return self.time_out(),
                    DeadlineEvent::Clock { stopped } => {
                        // A send to a worker that is gone fails; `receive` reports its end.
                        let _ = self.link.send(&ToWorker::Clock { stopped });
                    }
                },
                // Before the messages, for the same reason.
                _ = self.samples.tick(), if self.stage == Stage::Running => {
                    self.budget.set_unread(self.link.unsent_bytes());
                    let monitor = self.monitor.as_ref();
                    if let Some(crossed) = monitor.and_then(|monitor| monitor.check(&self.limits)) {
                        return self.stop(crossed);
                    }
                }
                message = self.link.receive() => match message {
                    Ok(Some(message)) => {
                        if let Some(ended) = self.on_message(message) {
                            return ended;
                        }
                        if self.suspend_at.is_some() {
                            self.watch_suspension();
                        }
                    }
                    Ok(None) => return Ended::Lost,
                    Err(error) => {
                        let message = format!("the worker {error}");
                        return self.stop(RunError::new(ErrorKind::Internal, message));
                    }
                },
                answered = self.pending.next() => self.deliver(answered),
                () = ended(&mut self.speculating), if self.speculating.is_some() => {
                    self.speculating = None;
                }
                changed = self.control.changed() => if changed.is_ok()
                    && let Some(ended) = self.on_control()
                {
                    return ended;
                },
                () = passed(self.suspend_at), if self.suspend_at.is_some() => {
                    if let Some(ended) = self.suspend() {
                        return ended;
                    }
                }
            }
        }
    }

    /// The pipeline ends the run, or has suspended a request of it.
    fn on_control(&mut self) -> Option<Ended> {
        let end = self.control.borrow_and_update().end().cloned();
        if let Some(error) = end {
            return Some(self.stop(error));
        }
        self.watch_suspension();
        None
    }

    /// A run whose open requests are all suspended makes no progress: it ends soon, unless the script
    /// does something else meanwhile.
    fn watch_suspension(&mut self) {
        let suspended = self.control.borrow().suspended();
        let is_stuck = suspended > 0 && suspended >= self.pending.len();
        self.suspend_at = is_stuck.then(|| Instant::now() + SUSPEND_AFTER);
    }

    fn suspend(&mut self) -> Option<Ended> {
        self.suspend_at = None;
        let error = self.control.borrow().suspension().cloned();
        error.map(|error| self.stop(error))
    }

    fn time_out(&mut self) -> Ended {
        let error = match self.stage {
            Stage::Starting => RunError::new(
                ErrorKind::Internal,
                format!(
                    "the worker did not start within {} s",
                    START_LIMIT.as_secs()
                ),
            ),
            Stage::Parsing | Stage::Running => RunError::new(
                ErrorKind::Timeout,
                format!(
                    "the script ran for {} ms, which is its limit",
                    self.limits.wall_ms
                ),
            ),
        };
        self.stop(error)
    }

    /// Ends the run from this side. An earlier verdict, which is the worker's own, stands.
    fn stop(&mut self, error: RunError) -> Ended {
        self.verdict.get_or_insert(error);
        Ended::Stopped
    }

    fn on_message(&mut self, message: FromWorker) -> Option<Ended> {
        match message {
            FromWorker::Ready { missing_walls } if self.stage == Stage::Starting => {
                return self.on_ready(missing_walls);
            }
            FromWorker::Parsed { micros, plan } if self.stage == Stage::Parsing => {
                self.stage = Stage::Running;
                self.speculate(plan);
                (self.on_event)(Event::Parsed { micros });
            }
            FromWorker::Ask { id, request } => {
                if let Err(error) = self.on_request(id, request) {
                    return Some(self.stop(error));
                }
            }
            FromWorker::Log { level, text } => {
                if let Err(error) = self.log(level, text) {
                    return Some(self.stop(error));
                }
            }
            FromWorker::Stopping(error) => {
                self.verdict.get_or_insert(*error);
                self.deadline.shorten(GRACE);
            }
            FromWorker::Done(report) => {
                if report.result.is_ok() {
                    self.warn_of_unanswered_calls();
                }
                return Some(Ended::Reported(report));
            }
            FromWorker::Ready { .. } | FromWorker::Parsed { .. } => {
                let message = "the worker broke the order of its messages";
                return Some(self.stop(RunError::new(ErrorKind::Internal, message)));
            }
        }
        None
    }

    fn speculate(&mut self, plan: PrefetchPlan) {
        if plan.is_empty() {
            return;
        }
        if let Some(speculate) = &self.speculation.0 {
            let speculating = speculate.clone().speculate(plan, self.context.clone());
            // Unwind safe: the future is not polled again, and what it shares is behind locks.
            let speculating = AssertUnwindSafe(speculating).catch_unwind();
            let mut speculating = speculating.map(|_| ()).boxed();
            // Once now: the first request of the script may be in the socket already. The event loop
            // polls it again, with a waker.
            let mut context = Context::from_waker(Waker::noop());
            if speculating.as_mut().poll(&mut context).is_pending() {
                self.speculating = Some(speculating);
            }
        }
    }

    fn on_ready(&mut self, mut missing_walls: Vec<String>) -> Option<Ended> {
        match &mut self.monitor {
            Some(monitor) => monitor.begin(),
            None => {
                missing_walls.push("resource monitor: /proc does not show the worker".to_owned());
            }
        }
        if !missing_walls.is_empty() && !self.allow_missing_walls {
            let message = format!(
                "this machine cannot wall in a script ({}); --allow-missing-walls runs it all the same",
                missing_walls.join("; ")
            );
            return Some(self.stop(RunError::new(ErrorKind::Internal, message)));
        }
        self.stage = Stage::Parsing;
        self.started = Instant::now();
        self.deadline
            .restart(Duration::from_millis(self.limits.wall_ms) + GRACE);
        (self.on_event)(Event::Started);
        None
    }

    /// Warns in the log: a worker with a result waits only briefly for calls that were not awaited.
    fn warn_of_unanswered_calls(&mut self) {
        if let Some(calls) = self.calls.unanswered() {
            let text = format!(
                "the script ended while {calls} had not answered, and the answer is lost: await every call"
            );
            // The warning is dropped where the log is full.
            let _ = self.log(Level::Warn, text);
        }
    }

    /// Puts what layers say about calls into the log: verdicts of guards.
    fn log_warnings(&mut self) {
        for text in self.context.made_calls().take_warnings() {
            // What does not fit into the log is dropped.
            let _ = self.log(Level::Warn, text);
        }
    }

    fn log(&mut self, level: Level, text: String) -> Result<(), RunError> {
        self.budget.log(&text)?;
        let line = LogLine { level, text };
        (self.on_event)(Event::Log(&line));
        self.logs.push(line);
        Ok(())
    }

    fn on_request(&mut self, id: u32, request: Request) -> Result<(), RunError> {
        self.budget.request(&request, self.pending.len())?;
        let reserved = self.budget.reserve(&request);
        let bytes = match &reserved {
            Ok(bytes) | Err((bytes, _)) => *bytes,
        };
        let call = match &request {
            Request::Call { tool, .. } => {
                let tool = logged_id(tool);
                let index = self.calls.begin(tool.to_owned());
                (self.on_event)(Event::CallStarted { index, tool });
                Some(index)
            }
            _ => None,
        };
        let ask = Ask {
            id,
            request,
            call,
            bytes,
        };
        match reserved {
            Ok(_) => self.pending.send(ask),
            Err((_, failure)) => self.pending.refuse(ask, failure),
        }
        Ok(())
    }

    /// Sends an answer to the worker.
    fn deliver(&mut self, answered: Answered) {
        let Answered {
            id,
            result,
            call,
            bytes,
        } = answered;
        self.budget.release(bytes);
        self.log_warnings();
        if self.control.borrow().suspended() > 0 {
            self.watch_suspension();
        }
        if let Some((index, time)) = call
            && let Some(call) = self.calls.end(index, time, result.is_ok())
        {
            (self.on_event)(Event::CallEnded { index, call });
        }
        self.budget.set_unread(self.link.unsent_bytes());
        let size = result.as_ref().map_or(0, |value| value.get().len());
        let answer = match self.budget.is_backed_up(size) {
            false => result,
            true => Err(Failure::new(
                FailureKind::Tool,
                "answers of more than 64 MiB, or of 128 MiB with those of other scripts of this client, wait to be read; await calls before making more",
            )),
        };
        let sent = self.link.send(&ToWorker::Answer { id, answer });
        self.budget.set_unread(self.link.unsent_bytes());
        if self.pending.is_empty() {
            // The script has all its answers, and may send the next request at once.
            self.link.expect_request();
        }
        if let Err(error) = sent {
            // The answer is too large for a message. Without another one the script would wait for
            // ever.
            let answer = Err(Failure::new(
                FailureKind::Tool,
                format!("the answer of the tool cannot be passed on: {error}"),
            ));
            let _ = self.link.send(&ToWorker::Answer { id, answer });
        }
    }

    fn conclude(mut self, ended: Ended, ending: Option<Ending>, source: &str) -> Outcome {
        let unanswered = self.calls.unanswered();
        let mut stats = Stats {
            wall_ms: millis(self.started.elapsed()),
            peak_rss_bytes: ending.map_or(0, |ending| ending.peak_rss_bytes),
            ..Stats::default()
        };
        let result = match ended {
            Ended::Reported(report) => {
                stats = report.stats;
                report.result.map(Into::into)
            }
            Ended::Stopped | Ended::Lost => {
                let status = ending.map(|ending| ending.status);
                let verdict = self.verdict.take();
                Err(verdict.unwrap_or_else(|| crash_error(self.stage, status)))
            }
        };
        // The worker knows nothing of it.
        stats.speculation = self.speculated();
        let mut outcome = outcome_of(result);
        if let Some(error) = &mut outcome.error {
            explain(error, source);
            if let (ErrorKind::Timeout, Some(calls)) = (error.kind, unanswered) {
                error.hint = Some(format!(
                    "It still waited for {calls}: race such a call against a timer, give it less time, or ask for a longer time limit."
                ));
            }
        }
        self.log_warnings();
        outcome.logs = self.logs;
        outcome.calls = self.calls.into_records();
        outcome.calls.extend(self.context.made_calls().take());
        outcome.labels = self.flow.report();
        outcome.stats = stats;
        outcome
    }
    /// Reports the calls that were made ahead of time.
    fn speculated(&mut self) -> Option<SpeculationStats> {
        // What is under way is cancelled.
        self.speculating = None;
        let speculation = self.speculation.0.as_ref()?;
        let stats = speculation.stats();
        for call in speculation.started() {
            (self.on_event)(Event::Speculated(&call));
        }
        (stats.started > 0).then_some(stats)
    }
}
