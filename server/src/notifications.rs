//! Notifications while a script runs: progress if the client asked for it, and console lines if it
//! wants logs. At any time: sudden changes of tools.

#![expect(deprecated, reason = "clients of 2025-11-25 still ask for logs")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pml_protocol::Level;
use pml_runtime::Event;
use pml_scrub::Scrubbed;
use pml_telemetry::Anomaly;
use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

use crate::client_session::ClientSession;

/// The shortest time between two batches of notifications (throttling).
const BATCH_INTERVAL: Duration = Duration::from_millis(50);
/// The longest progress message.
const PROGRESS_CHARS: usize = 500;
/// The longest log message. The reply has more of the line.
const LOG_CHARS: usize = 2_000;
/// Events that wait to be sent. Further events are dropped.
const QUEUE_EVENTS: usize = 256;
/// How long a reply waits for a client that does not read its notifications.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The client, and what it asked for.
pub struct Subscriber {
    pub peer: Peer<RoleServer>,
    pub session: Arc<ClientSession>,
    pub progress: Option<ProgressToken>,
    /// The lowest severity that is sent.
    pub log_level: Option<u8>,
}

/// One event of a run.
enum RunEvent {
    Calls {
        started: usize,
        ended: usize,
        tool: String,
    },
    Line {
        level: Level,
        text: String,
    },
    Progress {
        text: String,
    },
    /// A task of a plan: each is a notification of its own.
    Task {
        text: String,
    },
}

/// Sends the notifications of one run. Its methods do not block.
pub struct Notifications {
    /// `None` if the client wants no notifications.
    events: Option<mpsc::Sender<RunEvent>>,
    calls_started: usize,
    calls_ended: usize,
    sender: Option<JoinHandle<()>>,
}

impl Notifications {
    /// Starts a task that sends notifications, if the subscriber asked for any.
    pub fn to(subscriber: Subscriber) -> Self {
        let wanted = subscriber.progress.is_some() || subscriber.log_level.is_some();
        let (events, queue) = mpsc::channel(QUEUE_EVENTS);
        Self {
            events: wanted.then_some(events),
            calls_started: 0,
            calls_ended: 0,
            sender: wanted.then(|| tokio::spawn(send(subscriber, queue))),
        }
    }

    /// Receives the progress that servers report about calls in flight.
    pub fn on_progress(&self) -> impl Fn(pml_gateway::Progress) + Send + Sync + 'static {
        let events = self.events.as_ref().map(mpsc::Sender::downgrade);
        move |progress| {
            let events = events.as_ref().and_then(mpsc::WeakSender::upgrade);
            if let (Some(events), Some(message)) = (events, progress.message) {
                let text = format!("{}: {message}", progress.tool);
                let _ = events.try_send(RunEvent::Progress { text });
            }
        }
    }

    /// Sends what happens to the tasks of a plan.
    pub fn reporter(&self) -> impl Fn(String) + Send + Sync + 'static {
        let events = self.events.as_ref().map(mpsc::Sender::downgrade);
        move |text| {
            let events = events.as_ref().and_then(mpsc::WeakSender::upgrade);
            if let Some(events) = events {
                let _ = events.try_send(RunEvent::Task { text });
            }
        }
    }

    /// Queues the notification of an event of the run.
    pub fn note(&mut self, event: &Event<'_>) {
        let Some(events) = &self.events else { return };
        let tool = match event {
            Event::CallStarted { tool, .. } => {
                self.calls_started += 1;
                (*tool).to_owned()
            }
            Event::CallEnded { call, .. } => {
                self.calls_ended += 1;
                call.tool.clone()
            }
            Event::Log(logged) => {
                // A line that does not fit into the queue is still in the reply.
                let _ = events.try_send(RunEvent::Line {
                    level: logged.level,
                    text: logged.text.clone(),
                });
                return;
            }
            _ => return,
        };
        let _ = events.try_send(RunEvent::Calls {
            started: self.calls_started,
            ended: self.calls_ended,
            tool,
        });
    }

    /// Returns when everything is sent: no notification may follow the reply.
    pub async fn finish(mut self) {
        self.events = None;
        if let Some(mut sender) = self.sender.take()
            && tokio::time::timeout(FLUSH_TIMEOUT, &mut sender)
                .await
                .is_err()
        {
            sender.abort();
        }
    }
}

async fn send(subscriber: Subscriber, mut queue: mpsc::Receiver<RunEvent>) {
    let mut step = 0.0;
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, QUEUE_EVENTS).await > 0 {
        let mut last = None;
        for event in batch.drain(..) {
            let text = match event {
                RunEvent::Calls {
                    started,
                    ended,
                    tool,
                } => {
                    format!("{ended} of {started} calls done, last {tool}")
                }
                RunEvent::Progress { text } => text,
                RunEvent::Task { text } => {
                    step += 1.0;
                    progress(&subscriber, &text, step).await;
                    continue;
                }
                RunEvent::Line { level, text } => {
                    log(&subscriber, level, &text).await;
                    text
                }
            };
            last = Some(text);
        }
        if let Some(text) = last {
            step += 1.0;
            progress(&subscriber, &text, step).await;
        }
        if queue.is_closed() {
            continue;
        }
        tokio::time::sleep(BATCH_INTERVAL).await;
    }
}

async fn progress(subscriber: &Subscriber, text: &str, step: f64) {
    if let Some(token) = &subscriber.progress {
        let replies = subscriber.session.replies();
        let text = replies.beginning(text, PROGRESS_CHARS).await;
        Notification::new(text)
            .progress(&subscriber.peer, token.clone(), step)
            .await;
    }
}

async fn log(subscriber: &Subscriber, level: Level, text: &str) {
    let severity = severity(level);
    if subscriber
        .log_level
        .is_some_and(|lowest| severity_number(severity) >= lowest)
    {
        let replies = subscriber.session.replies();
        let text = replies.beginning(text, LOG_CHARS).await;
        Notification::new(text)
            .log(&subscriber.peer, severity, "script")
            .await;
        // Scrubbing a batch of long lines takes a second; other tasks run in between.
        tokio::task::yield_now().await;
    }
}

/// Tells a client of sudden changes of tools, if it wants warnings. `session` is there once the client has
/// sent a request.
pub async fn report_anomalies(
    peer: Peer<RoleServer>,
    session: Arc<OnceLock<Arc<ClientSession>>>,
    mut anomalies: broadcast::Receiver<Anomaly>,
) {
    loop {
        let anomaly = match anomalies.recv().await {
            Ok(anomaly) => anomaly,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let lowest = session.get().and_then(|session| session.log_level());
        let warning = LoggingLevel::Warning;
        if let (Some(session), Some(lowest)) = (session.get(), lowest)
            && severity_number(warning) >= lowest
        {
            let mut text = anomaly.to_string();
            if anomaly.suspends_tool {
                text.push_str("; it is withdrawn until a person has looked at it");
            }
            let text = session.replies().beginning(&text, LOG_CHARS).await;
            Notification::new(text).log(&peer, warning, "pml").await;
        }
    }
}

/// A scrubbed text. Besides replies, only this is sent.
struct Notification(Scrubbed<String>);

impl Notification {
    fn new(text: Scrubbed<String>) -> Self {
        Self(text)
    }

    async fn progress(self, peer: &Peer<RoleServer>, token: ProgressToken, step: f64) {
        let text = self.0.into_inner();
        let param = ProgressNotificationParam::new(token, step).with_message(text);
        // The client may have disconnected.
        let _ = peer.notify_progress(param).await;
    }

    async fn log(self, peer: &Peer<RoleServer>, level: LoggingLevel, logger: &str) {
        let text = Value::String(self.0.into_inner());
        let param = LoggingMessageNotificationParam::new(level, text).with_logger(logger);
        let _ = peer.notify_logging_message(param).await;
    }
}

fn severity(level: Level) -> LoggingLevel {
    match level {
        Level::Debug => LoggingLevel::Debug,
        Level::Log | Level::Info => LoggingLevel::Info,
        Level::Warn => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
    }
}

/// The severities in their order, from 0 for `debug`.
pub fn severity_number(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
