//! Notifications while a script runs: progress if the client asked for it, and console lines if it
//! wants logs.

#![expect(deprecated, reason = "clients of 2025-11-25 still ask for logs")]

use std::sync::Arc;
use std::time::Duration;

use pml_protocol::Level;
use pml_runtime::Event;
use pml_scrub::Scrubbed;
use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::client_session::ClientSession;

/// The shortest time between two batches of notifications (throttling).
const INTERVAL: Duration = Duration::from_millis(50);
const LINE_CHARS: usize = 500;
const QUEUE: usize = 256;
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
        made: usize,
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
}

/// Sends the notifications of one run. Its methods do not block.
pub struct Notifications {
    line: Option<mpsc::Sender<RunEvent>>,
    wants_lines: bool,
    made: usize,
    ended: usize,
    sender: Option<JoinHandle<()>>,
}

impl Notifications {
    pub fn to(subscriber: Subscriber) -> Self {
        let wanted = subscriber.progress.is_some() || subscriber.log_level.is_some();
        let (line, events) = mpsc::channel(QUEUE);
        Self {
            line: wanted.then_some(line),
            wants_lines: wanted,
            made: 0,
            ended: 0,
            sender: wanted.then(|| tokio::spawn(send(subscriber, events))),
        }
    }

    /// Receives the progress that servers report about calls in flight.
    pub fn on_progress(&self) -> impl Fn(pml_gateway::Progress) + Send + Sync + 'static {
        let line = self.line.clone().map(|line| line.downgrade());
        move |progress| {
            let line = line.as_ref().and_then(mpsc::WeakSender::upgrade);
            if let (Some(line), Some(message)) = (line, progress.message) {
                let text = format!("{}: {message}", progress.tool);
                let _ = line.try_send(RunEvent::Progress { text });
            }
        }
    }

    pub fn note(&mut self, event: &Event<'_>) {
        let Some(line) = &self.line else { return };
        let tool = match event {
            Event::CallStarted { tool, .. } => {
                self.made += 1;
                (*tool).to_owned()
            }
            Event::CallEnded { call, .. } => {
                self.ended += 1;
                call.tool.clone()
            }
            Event::Log(logged) if self.wants_lines => {
                // What does not fit into the queue is still in the reply.
                let _ = line.try_send(RunEvent::Line {
                    level: logged.level,
                    text: logged.text.clone(),
                });
                return;
            }
            _ => return,
        };
        let _ = line.try_send(RunEvent::Calls {
            made: self.made,
            ended: self.ended,
            tool,
        });
    }

    /// Returns when everything is sent: no notification may follow the reply.
    pub async fn finish(mut self) {
        self.line = None;
        if let Some(mut sender) = self.sender.take()
            && tokio::time::timeout(FLUSH_TIMEOUT, &mut sender)
                .await
                .is_err()
        {
            sender.abort();
        }
    }
}

async fn send(subscriber: Subscriber, mut events: mpsc::Receiver<RunEvent>) {
    let mut step = 0.0;
    let mut batch = Vec::new();
    while events.recv_many(&mut batch, QUEUE).await > 0 {
        let mut last = None;
        for event in batch.drain(..) {
            let text = match event {
                RunEvent::Calls { made, ended, tool } => {
                    format!("{ended} of {made} calls done, last {tool}")
                }
                RunEvent::Progress { text } => text,
                RunEvent::Line { level, text } => {
                    log(&subscriber, level, &text).await;
                    text
                }
            };
            last = Some(text);
        }
        if let (Some(token), Some(text)) = (&subscriber.progress, last) {
            step += 1.0;
            let notification =
                Notification::new(subscriber.session.replies().beginning(&text, LINE_CHARS));
            notification
                .progress(&subscriber.peer, token.clone(), step)
                .await;
        }
        if events.is_closed() {
            continue;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn log(subscriber: &Subscriber, level: Level, text: &str) {
    let severity = severity(level);
    if subscriber
        .log_level
        .is_some_and(|lowest| severity_number(severity) >= lowest)
    {
        let notification = Notification::new(subscriber.session.replies().text(text));
        notification.log(&subscriber.peer, severity).await;
    }
}

/// The only thing that is sent besides replies.
struct Notification(Scrubbed<String>);

impl Notification {
    fn new(text: Scrubbed<String>) -> Self {
        Self(text)
    }

    async fn progress(self, peer: &Peer<RoleServer>, token: ProgressToken, step: f64) {
        let text = self.0.into_inner();
        let param = ProgressNotificationParam::new(token, step).with_message(text);
        // The client may be gone.
        let _ = peer.notify_progress(param).await;
    }

    async fn log(self, peer: &Peer<RoleServer>, level: LoggingLevel) {
        let text = Value::String(self.0.into_inner());
        let param = LoggingMessageNotificationParam::new(level, text).with_logger("script");
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
