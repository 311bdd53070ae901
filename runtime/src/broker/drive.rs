//! One run, as the broker sees it: messages in, answers out, and an end in any case.
//!
//! Nothing a worker says is trusted: every limit it keeps is kept here as well, and a worker
//! that breaks the protocol, hangs or dies becomes an outcome like any other.

use std::future::pending;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use pml_ops::{Answer, Failure, Level, Request};
use serde_json::value::to_raw_value;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::hint::hint;
use super::host::{HostFuture, ToolHost};
use super::process::Worker;
use crate::frame;
use crate::limits::Limits;
use crate::outcome::{CallRecord, ErrorKind, LogLine, Outcome, RunError, Stats, Truncated};
use crate::protocol::{FromWorker, Inbox, ProtocolError, Report, RunSpec, ToWorker, encode};

/// A fresh process on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(20);
/// What a worker gets to end a run by itself once a limit is crossed.
const GRACE: Duration = Duration::from_millis(250);

/// A script to run.
#[derive(Debug, Clone)]
pub struct Script {
    /// Appears in messages and stack traces, for instance `audit.ts`.
    pub name: String,
    pub source: String,
    pub args: Vec<String>,
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

/// The outcome where there was no worker to run anything.
pub fn failed_to_start(reason: &str) -> Outcome {
    outcome_of(Err(RunError::new(ErrorKind::Internal, reason)))
}

fn outcome_of(result: Result<Option<Box<serde_json::value::RawValue>>, RunError>) -> Outcome {
    let (result, error) = match result {
        Ok(value) => (value, None),
        Err(error) => (None, Some(error)),
    };
    Outcome {
        ok: error.is_none(),
        result,
        logs: Vec::new(),
        calls: Vec::new(),
        redactions: Default::default(),
        truncated: None,
        stats: Stats::default(),
        error,
    }
}

pub async fn run(
    mut worker: Worker,
    script: Script,
    limits: Limits,
    host: Arc<dyn ToolHost>,
    allow_missing_walls: bool,
    on_event: &mut (dyn FnMut(Event<'_>) + Send),
) -> Outcome {
    let source = script.source.clone();
    let socket = match worker.socket.take().map(UnixStream::from_std) {
        Some(Ok(socket)) => socket,
        Some(Err(error)) => return failed_to_start(&error.to_string()),
        None => return failed_to_start("the worker has no connection"),
    };
    let mut run = Run {
        limits,
        host,
        allow_missing_walls,
        link: Link::new(socket),
        started: Instant::now(),
        deadline: Instant::now() + START_LIMIT,
        stage: Stage::Starting,
        verdict: None,
        logs: Vec::new(),
        log_bytes: 0,
        calls: Vec::new(),
        searches: 0,
        pending: FuturesUnordered::new(),
        slots: Arc::new(Semaphore::new(limits.concurrent_calls.max(1) as usize)),
        on_event,
    };
    let ended = run.until_end(script).await;
    let peak_rss_bytes = worker.peak_rss_bytes();
    let status = match &ended {
        Ended::Reported(_) => {
            drop(worker);
            None
        }
        Ended::Lost | Ended::Judged => worker.end().await,
    };
    run.conclude(ended, status, peak_rss_bytes, &source)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    Parsing,
    Running,
}

enum Ended {
    /// The worker sent its report.
    Reported(Box<Report>),
    /// The worker is gone, or speaks nonsense.
    Lost,
    /// The broker ended the run; the verdict says why.
    Judged,
}

/// An answer on its way back to the worker.
struct Answered {
    id: u32,
    answer: Answer,
    /// Set for tool calls: the place in the list, and the time it took.
    call: Option<(usize, Duration)>,
}

struct Run<'e> {
    limits: Limits,
    host: Arc<dyn ToolHost>,
    allow_missing_walls: bool,
    link: Link,
    started: Instant,
    deadline: Instant,
    stage: Stage,
    verdict: Option<RunError>,
    logs: Vec<LogLine>,
    log_bytes: u64,
    calls: Vec<CallRecord>,
    searches: u32,
    pending: FuturesUnordered<HostFuture<'static, Answered>>,
    slots: Arc<Semaphore>,
    on_event: &'e mut (dyn FnMut(Event<'_>) + Send),
}

impl Run<'_> {
    async fn until_end(&mut self, script: Script) -> Ended {
        let spec = RunSpec {
            name: script.name,
            source: script.source,
            args: script.args,
            limits: self.limits,
        };
        if let Err(error) = self.link.send(&ToWorker::Run(Box::new(spec))) {
            return self.judge(ErrorKind::Internal, error.to_string());
        }
        loop {
            tokio::select! {
                biased;
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
                () = tokio::time::sleep_until(self.deadline) => {
                    let limit = self.limits.wall_ms;
                    return match self.stage {
                        Stage::Starting => self.judge(
                            ErrorKind::Internal,
                            format!("the worker did not start within {} s", START_LIMIT.as_secs()),
                        ),
                        _ => self.judge(
                            ErrorKind::Timeout,
                            format!("the script ran for {limit} ms, which is its limit"),
                        ),
                    };
                }
            }
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
            FromWorker::Ready { missing_walls } => {
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
            FromWorker::Parsed { micros } => {
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
            FromWorker::Done(report) => return Some(Ended::Reported(report)),
        }
        None
    }

    fn log(&mut self, level: Level, text: String) -> Option<Ended> {
        self.log_bytes += text.len() as u64 + 1;
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
        let made = match request {
            Request::Call { .. } => self.calls.len() as u32,
            Request::Search { .. } | Request::Describe { .. } => {
                self.searches += 1;
                self.searches - 1
            }
        };
        if made >= self.limits.calls {
            let limit = self.limits.calls;
            return Some(self.judge(
                ErrorKind::Calls,
                format!("the script made more than {limit} tool calls, which is its limit"),
            ));
        }
        let host = self.host.clone();
        match request {
            Request::Call { tool, args } => {
                let index = self.calls.len();
                (self.on_event)(Event::CallStarted { index, tool: &tool });
                self.calls.push(CallRecord {
                    tool: tool.clone(),
                    ms: 0.0,
                    ok: false,
                });
                let slots = self.slots.clone();
                let limit = Duration::from_millis(self.limits.tool_ms);
                self.pending.push(Box::pin(async move {
                    // The semaphore is never closed. A call that waits here has not begun, so
                    // its own time has not either.
                    let _slot = slots.acquire().await;
                    let dispatched = Instant::now();
                    let answer = timeout(limit, host.call(&tool, &args))
                        .await
                        .unwrap_or_else(|_| Err(too_slow(&tool, limit)));
                    Answered {
                        id,
                        answer,
                        call: Some((index, dispatched.elapsed())),
                    }
                }));
            }
            Request::Search {
                query,
                limit,
                threshold,
            } => self.pending.push(Box::pin(async move {
                let answer = match host.search(&query, limit, threshold).await {
                    Ok(hits) => to_raw_value(&hits)
                        .map_err(|error| Failure::new("internal", error.to_string())),
                    Err(failure) => Err(failure),
                };
                let call = None;
                Answered { id, answer, call }
            })),
            Request::Describe { tool } => self.pending.push(Box::pin(async move {
                let answer = host.describe(&tool).await;
                let call = None;
                Answered { id, answer, call }
            })),
        }
        None
    }

    fn pass_on(&mut self, answered: Answered) {
        let Answered { id, answer, call } = answered;
        if let Some((index, time)) = call
            && let Some(record) = self.calls.get_mut(index)
        {
            record.ms = time.as_secs_f64() * 1000.0;
            record.ok = answer.is_ok();
            let call = &*record;
            (self.on_event)(Event::CallEnded { index, call });
        }
        let sent = self.link.send(&ToWorker::Answer { id, answer });
        if let Err(error) = sent {
            // The answer is too large for a message: the script must hear of it, not wait.
            let answer = Err(Failure::new(
                "tool",
                format!("the answer of the tool cannot be passed on: {error}"),
            ));
            let _ = self.link.send(&ToWorker::Answer { id, answer });
        }
    }

    fn conclude(
        self,
        ended: Ended,
        status: Option<ExitStatus>,
        peak_rss_bytes: u64,
        source: &str,
    ) -> Outcome {
        let mut stats = Stats {
            wall_ms: self.started.elapsed().as_secs_f64() * 1000.0,
            peak_rss_bytes,
            ..Stats::default()
        };
        let result = match ended {
            Ended::Reported(report) => {
                stats.wall_ms = report.wall_ms;
                stats.cpu_ms = report.cpu_ms;
                stats.heap_bytes = report.heap_bytes;
                report.result
            }
            Ended::Judged | Ended::Lost => {
                Err(self.verdict.unwrap_or_else(|| obituary(self.stage, status)))
            }
        };
        let mut outcome = outcome_of(result);
        limit_output(&mut outcome, self.limits.output_chars);
        if let Some(error) = &mut outcome.error {
            error.frame = error
                .line
                .and_then(|line| frame::render(source, line, error.column.unwrap_or(1)));
            error.hint = hint(error).map(str::to_owned);
        }
        outcome.logs = self.logs;
        outcome.calls = self.calls;
        outcome.stats = stats;
        outcome
    }
}

fn too_slow(tool: &str, limit: Duration) -> Failure {
    Failure {
        retryable: true,
        ..Failure::new(
            "timeout",
            format!("{tool} did not answer within {} ms", limit.as_millis()),
        )
    }
}

/// What a worker died of, when it could not say.
fn obituary(stage: Stage, status: Option<ExitStatus>) -> RunError {
    let cause = match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!("signal {signal}"),
        Some((None, Some(code))) => format!("exit code {code}"),
        _ => "an unknown cause".to_owned(),
    };
    match stage {
        Stage::Starting => RunError::new(
            ErrorKind::Internal,
            format!("the worker died while it started, of {cause}"),
        ),
        Stage::Parsing => RunError::new(
            ErrorKind::Syntax,
            "the script nests too deeply to be parsed",
        ),
        Stage::Running => RunError::new(
            ErrorKind::Internal,
            format!("the worker died while the script ran, of {cause}"),
        ),
    }
}

fn limit_output(outcome: &mut Outcome, limit: u64) {
    let Some(result) = &outcome.result else {
        return;
    };
    let bytes = result.get().len() as u64;
    // Characters are never more than bytes, so most results need no counting.
    if bytes <= limit {
        return;
    }
    let chars = result.get().chars().count() as u64;
    if chars <= limit {
        return;
    }
    outcome.ok = false;
    outcome.result = None;
    outcome.truncated = Some(Truncated { bytes });
    outcome.error = Some(RunError::new(
        ErrorKind::Output,
        format!("the result has {chars} characters; the limit is {limit}"),
    ));
}

/// The broker's end of the socket. Sending never waits: a worker that writes while we would
/// wait for it to read could wait for us in turn.
struct Link {
    socket: UnixStream,
    inbox: Inbox,
    unsent: Vec<u8>,
}

impl Link {
    fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            inbox: Inbox::default(),
            unsent: Vec::new(),
        }
    }

    fn send(&mut self, message: &ToWorker) -> Result<(), ProtocolError> {
        let frame = encode(message)?;
        if self.unsent.is_empty() {
            let sent = self.socket.try_write(&frame).unwrap_or(0);
            self.unsent.extend_from_slice(&frame[sent..]);
        } else {
            self.unsent.extend_from_slice(&frame);
        }
        Ok(())
    }

    /// The next message; `None` when the worker has closed its end. Sends what is unsent while
    /// it waits. Safe to cancel: bytes that have arrived stay in the inbox.
    async fn receive(&mut self) -> io::Result<Option<FromWorker>> {
        let mut buffer = [0; 64 * 1024];
        loop {
            if let Some(message) = self.inbox.pop().map_err(io::Error::other)? {
                return Ok(Some(message));
            }
            tokio::select! {
                ready = self.socket.readable() => {
                    ready?;
                    match self.socket.try_read(&mut buffer) {
                        Ok(0) => return Ok(None),
                        Ok(count) => self.inbox.push(&buffer[..count]),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                        Err(error) => return Err(error),
                    }
                }
                ready = writable(&self.socket, self.unsent.is_empty()) => {
                    ready?;
                    match self.socket.try_write(&self.unsent) {
                        Ok(sent) => drop(self.unsent.drain(..sent)),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        // The reading side will tell that the worker is gone.
                        Err(_) => self.unsent.clear(),
                    }
                }
            }
        }
    }
}

async fn writable(socket: &UnixStream, nothing_to_send: bool) -> io::Result<()> {
    if nothing_to_send {
        return pending().await;
    }
    socket.writable().await
}
