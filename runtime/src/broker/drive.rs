//! One run, as the broker sees it: messages in, answers out, and an end in any case.
//!
//! Nothing a worker says is trusted: every limit it keeps is kept here as well, and a worker
//! that breaks the protocol, hangs or dies becomes an outcome like any other.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use pml_ops::{Failure, Level, Request};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::calls::Calls;
use super::gauge::Gauge;
use super::host::{HostFuture, ToolHost};
use super::link::Link;
use super::process::Worker;
use super::reaper::Ending;
use super::requests::{self, Answered, Call};
use super::turns::Party;
use super::verdict::{Stage, explain, failed_to_start, limit_output, obituary, outcome_of};
use crate::limits::Limits;
use crate::outcome::{CallRecord, ErrorKind, LogLine, Outcome, RunError, Stats, millis};
use crate::protocol::{FromWorker, LOG_LINE_COST, Report, RunSpec, TestSpec, ToWorker};
use crate::world::{Sleep, World};

/// A fresh process on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(20);
/// What a worker gets to end a run by itself once a limit is crossed.
const GRACE: Duration = Duration::from_millis(250);

/// How often somebody looks at what a worker uses.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of arguments that wait for answers, and of answers that a worker has not read: a script
/// must not fill the broker with either.
const MAX_UNDER_WAY: usize = 64 * 1024 * 1024;
/// Requests that wait for answers; a script has fewer, by its limit of calls.
const MAX_PENDING: usize = 4096;

/// A script to run.
#[derive(Debug, Clone)]
pub struct Script {
    /// Appears in messages and stack traces, for instance `audit.ts`.
    pub name: String,
    pub source: String,
    pub args: Vec<String>,
}

/// What a run has besides its script, its limits and its tools.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Who the run is for, where several share a pool.
    pub party: Option<Party>,
    /// Time and chance that can be had again; `None` for the real ones.
    pub world: Option<World>,
    /// What timers do in such a world.
    pub sleep: Sleep,
    /// Set for a file of tests.
    pub test: Option<TestSpec>,
}

/// What happens during a run, as it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The worker has the script.
    Started,
    /// The script is JavaScript now, after this many microseconds.
    Parsed {
        micros: u64,
    },
    Log(&'a LogLine),
    CallStarted {
        index: usize,
        tool: &'a str,
    },
    CallEnded {
        index: usize,
        call: &'a CallRecord,
    },
}

pub async fn run(
    mut worker: Worker,
    script: Script,
    options: RunOptions,
    limits: Limits,
    host: Arc<dyn ToolHost>,
    allow_missing_walls: bool,
    on_event: &mut (dyn FnMut(Event<'_>) + Send),
) -> Outcome {
    let size = script.source.len() as u64;
    if size > limits.source_bytes {
        let limit = limits.source_bytes;
        return outcome_of(Err(RunError::new(
            ErrorKind::Syntax,
            format!("the script has {size} bytes; the limit is {limit}"),
        )));
    }
    let source = script.source.clone();
    let link = match worker.socket.take().map(Link::new) {
        Some(Ok(link)) => link,
        Some(Err(error)) => return failed_to_start(&error.to_string()),
        None => return failed_to_start("the worker has no connection"),
    };
    let mut looks = interval_at(Instant::now() + LOOK, LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let speaks = options.test.is_some() || options.world.is_some();
    let mut run = Run {
        gauge: worker.gauge.take(),
        speaks,
        under_way: 0,
        looks,
        limits,
        pauses: host.pauses(),
        host,
        paused_at: None,
        allow_missing_walls,
        link,
        started: Instant::now(),
        deadline: Instant::now() + START_LIMIT,
        stage: Stage::Starting,
        verdict: None,
        logs: Vec::new(),
        log_bytes: 0,
        calls: Calls::default(),
        questions: 0,
        pending: FuturesUnordered::new(),
        slots: Arc::new(Semaphore::new(limits.concurrent_calls.max(1) as usize)),
        on_event,
    };
    let ended = run.until_end(script, options).await;
    let ending = match &ended {
        Ended::Reported(_) => {
            drop(worker);
            None
        }
        Ended::Lost | Ended::Judged => worker.end().await,
    };
    run.conclude(ended, ending, &source)
}

enum Ended {
    /// The worker sent its report.
    Reported(Box<Report>),
    /// The worker is gone, or speaks nonsense.
    Lost,
    /// The broker ended the run; the verdict says why.
    Judged,
}

struct Run<'e> {
    gauge: Option<Gauge>,
    /// Whether the script speaks to its test, or to the keeper of its clock.
    speaks: bool,
    /// Bytes of the requests that wait for answers.
    under_way: usize,
    looks: Interval,
    limits: Limits,
    host: Arc<dyn ToolHost>,
    pauses: Option<watch::Receiver<bool>>,
    paused_at: Option<Instant>,
    allow_missing_walls: bool,
    link: Link,
    started: Instant,
    deadline: Instant,
    stage: Stage,
    verdict: Option<RunError>,
    logs: Vec<LogLine>,
    log_bytes: u64,
    calls: Calls,
    questions: u32,
    pending: FuturesUnordered<HostFuture<'static, Answered>>,
    slots: Arc<Semaphore>,
    on_event: &'e mut (dyn FnMut(Event<'_>) + Send),
}

impl Run<'_> {
    async fn until_end(&mut self, script: Script, options: RunOptions) -> Ended {
        let spec = RunSpec {
            name: script.name,
            source: script.source,
            args: script.args,
            limits: self.limits,
            allow_missing_walls: self.allow_missing_walls,
            world: options.world,
            sleep: options.sleep,
            test: options.test,
        };
        if let Err(error) = self.link.send(&ToWorker::Run(Box::new(spec))) {
            return self.judge(ErrorKind::Internal, error.to_string());
        }
        loop {
            tokio::select! {
                // The deadline first: a worker that floods us must not put it off.
                biased;
                () = tokio::time::sleep_until(self.deadline), if self.is_timed() => {
                    return self.too_late();
                }
                paused = pause_changed(&mut self.pauses) => self.stop_clock(paused),
                // Before the messages, which may never end.
                _ = self.looks.tick(), if self.stage == Stage::Running => {
                    let gauge = self.gauge.as_ref();
                    if let Some(crossed) = gauge.and_then(|gauge| gauge.check(&self.limits)) {
                        return self.judge(crossed.kind, crossed.message);
                    }
                }
                message = self.link.receive() => match message {
                    Ok(Some(message)) => if let Some(ended) = self.handle(message) {
                        return ended;
                    },
                    Ok(None) => return Ended::Lost,
                    Err(error) => {
                        return self.judge(ErrorKind::Internal, format!("the worker {error}"));
                    }
                },
                Some(answered) = self.pending.next(), if !self.pending.is_empty() => {
                    self.pass_on(answered);
                }
            }
        }
    }

    /// Whether the deadline counts: not while a person is asked, unless the run is ending.
    fn is_timed(&self) -> bool {
        self.paused_at.is_none() || self.verdict.is_some()
    }

    /// Time in which a person is asked is not the script's.
    fn stop_clock(&mut self, stop: bool) {
        match (stop, self.paused_at) {
            (true, None) => self.paused_at = Some(Instant::now()),
            (false, Some(since)) => {
                // A run that is ending has no time to win.
                if self.verdict.is_none() {
                    self.deadline += since.elapsed();
                }
                self.paused_at = None;
            }
            _ => return,
        }
        // A worker that cannot be told is one whose end is noticed elsewhere.
        let _ = self.link.send(&ToWorker::Clock { stopped: stop });
    }

    fn too_late(&mut self) -> Ended {
        let limit = self.limits.wall_ms;
        match self.stage {
            Stage::Starting => self.judge(
                ErrorKind::Internal,
                format!(
                    "the worker did not start within {} s",
                    START_LIMIT.as_secs()
                ),
            ),
            Stage::Parsing | Stage::Running => self.judge(
                ErrorKind::Timeout,
                format!("the script ran for {limit} ms, which is its limit"),
            ),
        }
    }

    /// Ends the run from this side. An earlier verdict, the worker's own, stands.
    fn judge(&mut self, kind: ErrorKind, message: String) -> Ended {
        self.verdict
            .get_or_insert_with(|| RunError::new(kind, message));
        Ended::Judged
    }

    fn handle(&mut self, message: FromWorker) -> Option<Ended> {
        match message {
            FromWorker::Ready { mut missing_walls } if self.stage == Stage::Starting => {
                match &mut self.gauge {
                    Some(gauge) => gauge.begin(),
                    None => missing_walls
                        .push("memory gauge: /proc does not show the worker".to_owned()),
                }
                if !missing_walls.is_empty() && !self.allow_missing_walls {
                    return Some(self.judge(
                        ErrorKind::Internal,
                        format!(
                            "this machine cannot wall in a script ({}); \
                             --allow-missing-walls runs it all the same",
                            missing_walls.join("; ")
                        ),
                    ));
                }
                self.stage = Stage::Parsing;
                self.started = Instant::now();
                self.deadline = self.started + Duration::from_millis(self.limits.wall_ms) + GRACE;
                (self.on_event)(Event::Started);
            }
            FromWorker::Parsed { micros } if self.stage == Stage::Parsing => {
                self.stage = Stage::Running;
                (self.on_event)(Event::Parsed { micros });
            }
            FromWorker::Ask { id, request } => return self.ask(id, request),
            FromWorker::Log { level, text } => return self.log(level, text),
            FromWorker::Stopping { kind, message } => {
                self.verdict
                    .get_or_insert_with(|| RunError::new(kind, message));
                self.deadline = self.deadline.min(Instant::now() + GRACE);
            }
            FromWorker::Done(report) => {
                if report.result.is_ok() {
                    self.tell_unanswered();
                }
                return Some(Ended::Reported(report));
            }
            FromWorker::Ready { .. } | FromWorker::Parsed { .. } => {
                return Some(self.judge(
                    ErrorKind::Internal,
                    "the worker broke the order of its messages".to_owned(),
                ));
            }
        }
        None
    }

    /// A result does not wait for long for calls that nobody awaited.
    fn tell_unanswered(&mut self) {
        if let Some(calls) = self.calls.unanswered() {
            let text = format!(
                "the script ended while {calls} had not answered, and the answer is lost: await every call"
            );
            // A line that is too much for the limit is one that nobody misses.
            let _ = self.log(Level::Warn, text);
        }
    }

    fn log(&mut self, level: Level, text: String) -> Option<Ended> {
        self.log_bytes += text.len() as u64 + LOG_LINE_COST;
        if self.log_bytes > self.limits.log_bytes {
            let limit = self.limits.log_bytes;
            return Some(self.judge(
                ErrorKind::Output,
                format!("the script logged more than {limit} bytes"),
            ));
        }
        let line = LogLine { level, text };
        (self.on_event)(Event::Log(&line));
        self.logs.push(line);
        None
    }

    fn ask(&mut self, id: u32, request: Request) -> Option<Ended> {
        let (made, what) = match request {
            Request::Call { .. } => (self.calls.len() as u32, "calls a tool"),
            // A test says what it does as often as it does something.
            Request::Harness { .. } if self.speaks => (0, "speaks to its test"),
            Request::Harness { .. } => {
                return Some(self.judge(
                    ErrorKind::Internal,
                    "the worker speaks to a test that there is not".to_owned(),
                ));
            }
            _ => {
                self.questions += 1;
                (self.questions - 1, "searches, stores and loads")
            }
        };
        if made >= self.limits.calls {
            let limit = self.limits.calls;
            return Some(self.judge(
                ErrorKind::Calls,
                format!("the script {what} more often than its limit of {limit}"),
            ));
        }
        if self.pending.len() >= MAX_PENDING {
            return Some(self.judge(
                ErrorKind::Calls,
                format!("the script has more than {MAX_PENDING} requests under way"),
            ));
        }
        let host = self.host.clone();
        let bytes = requests::size(&request);
        self.under_way += bytes;
        let is_too_much = self.under_way > MAX_UNDER_WAY;
        let too_much = || {
            Failure::new(
                "arguments",
                "the arguments of the calls under way exceed 64 MiB; await some of them first",
            )
        };
        self.pending.push(match request {
            Request::Call { mut tool, args } => {
                // One more than an id may have, so that it is still told as too long.
                tool.truncate(tool.floor_char_boundary(requests::MAX_ID_BYTES + 1));
                let index = self.calls.begin(tool.clone());
                (self.on_event)(Event::CallStarted { index, tool: &tool });
                let call = Call {
                    id,
                    index,
                    tool,
                    args,
                    slots: self.slots.clone(),
                    limit: Duration::from_millis(self.limits.tool_ms),
                    bytes,
                };
                match is_too_much {
                    true => call.refuse(too_much()),
                    false => call.answer(host),
                }
            }
            _ if is_too_much => requests::refuse(id, bytes, too_much()),
            question => requests::answer(host, id, question),
        });
        None
    }

    fn pass_on(&mut self, answered: Answered) {
        let Answered {
            id,
            answer,
            call,
            bytes,
        } = answered;
        self.under_way = self.under_way.saturating_sub(bytes);
        if let Some((index, time)) = call
            && let Some(call) = self.calls.end(index, time, answer.is_ok())
        {
            (self.on_event)(Event::CallEnded { index, call });
        }
        let answer = match self.link.unsent_bytes() > MAX_UNDER_WAY {
            false => answer,
            true => Err(Failure::new(
                "tool",
                "answers of more than 64 MiB wait to be read; await calls before making more",
            )),
        };
        let sent = self.link.send(&ToWorker::Answer { id, answer });
        if self.pending.is_empty() {
            // The script has all it asked for, and may ask again.
            self.link.expect();
        }
        if let Err(error) = sent {
            // The answer is too large for a message: the script must hear of it, not wait.
            let answer = Err(Failure::new(
                "tool",
                format!("the answer of the tool cannot be passed on: {error}"),
            ));
            let _ = self.link.send(&ToWorker::Answer { id, answer });
        }
    }

    fn conclude(self, ended: Ended, ending: Option<Ending>, source: &str) -> Outcome {
        let unanswered = self.calls.unanswered();
        let mut stats = Stats {
            wall_ms: millis(self.started.elapsed()),
            peak_rss_bytes: ending.map_or(0, |ending| ending.peak_rss_bytes),
            ..Stats::default()
        };
        let result = match ended {
            Ended::Reported(report) => {
                stats.wall_ms = report.wall_ms;
                stats.cpu_ms = report.cpu_ms;
                stats.heap_bytes = report.heap_bytes;
                stats.peak_rss_bytes = report.peak_rss_bytes;
                report.result.map(Into::into)
            }
            Ended::Judged | Ended::Lost => {
                let status = ending.map(|ending| ending.status);
                Err(self.verdict.unwrap_or_else(|| obituary(self.stage, status)))
            }
        };
        let mut outcome = outcome_of(result);
        limit_output(&mut outcome, self.limits.output_chars);
        if let Some(error) = &mut outcome.error {
            explain(error, source);
            if let (ErrorKind::Timeout, Some(calls)) = (error.kind, unanswered) {
                error.hint = Some(format!(
                    "It still waited for {calls}: race such a call against a timer, give it less time, or ask for a longer time limit."
                ));
            }
        }
        outcome.logs = self.logs;
        outcome.calls = self.calls.into_records();
        outcome.stats = stats;
        outcome
    }
}

/// Whether the run waits for a person, when that changes; never, where nobody is asked.
async fn pause_changed(pauses: &mut Option<watch::Receiver<bool>>) -> bool {
    if let Some(receiver) = pauses
        && receiver.changed().await.is_ok()
    {
        return *receiver.borrow_and_update();
    }
    std::future::pending().await
}
