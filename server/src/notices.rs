//! What a client hears while a script runs: progress if it asked for it, and the lines of the
//! console if it wants logs.

#![expect(deprecated, reason = "clients of 2025-11-25 still ask for logs")]

use std::sync::Arc;
use std::time::Duration;

use pml_runtime::{Event, Level};
use pml_scrub::Scrubbed;
use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::guests::Guest;

/// A flood of events becomes a trickle of notices.
const BETWEEN: Duration = Duration::from_millis(50);
const LINE_CHARS: usize = 500;
const QUEUE: usize = 256;
/// A client that does not read holds up no answer for longer than this.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Who wants to hear what.
pub struct Audience {
    pub peer: Peer<RoleServer>,
    pub guest: Arc<Guest>,
    pub progress: Option<ProgressToken>,
    /// The lowest severity that is sent.
    pub log_level: Option<u8>,
}

/// One thing that happened.
enum Happened {
    Calls {
        made: usize,
        ended: usize,
        tool: String,
    },
    Line {
        level: Level,
        text: String,
    },
    Told {
        text: String,
    },
}

/// The sending end for a run; it never waits.
pub struct Notices {
    line: Option<mpsc::Sender<Happened>>,
    wants_lines: bool,
    made: usize,
    ended: usize,
    sender: Option<JoinHandle<()>>,
}

impl Notices {
    pub fn to(audience: Audience) -> Self {
        let wanted = audience.progress.is_some() || audience.log_level.is_some();
        let (line, happened) = mpsc::channel(QUEUE);
        Self {
            line: wanted.then_some(line),
            wants_lines: wanted,
            made: 0,
            ended: 0,
            sender: wanted.then(|| tokio::spawn(send(audience, happened))),
        }
    }

    /// What servers say about calls that are under way.
    pub fn of_tools(&self) -> impl Fn(pml_gateway::Progress) + Send + Sync + 'static {
        let line = self.line.clone().map(|line| line.downgrade());
        move |told| {
            let line = line.as_ref().and_then(mpsc::WeakSender::upgrade);
            if let (Some(line), Some(message)) = (line, told.message) {
                let text = format!("{}: {message}", told.tool);
                let _ = line.try_send(Happened::Told { text });
            }
        }
    }

    pub fn note(&mut self, event: &Event<'_>) {
        let Some(line) = &self.line else { return };
        let happened = match event {
            Event::CallStarted { tool, .. } => {
                self.made += 1;
                (*tool).to_owned()
            }
            Event::CallEnded { call, .. } => {
                self.ended += 1;
                call.tool.clone()
            }
            Event::Log(told) if self.wants_lines => {
                // What does not fit the queue is still in the answer.
                let _ = line.try_send(Happened::Line {
                    level: told.level,
                    text: told.text.clone(),
                });
                return;
            }
            _ => return,
        };
        let _ = line.try_send(Happened::Calls {
            made: self.made,
            ended: self.ended,
            tool: happened,
        });
    }

    /// Returns when everything has been sent: nothing may follow the answer.
    pub async fn finish(mut self) {
        self.line = None;
        if let Some(mut sender) = self.sender.take()
            && tokio::time::timeout(LAST_WORDS, &mut sender).await.is_err()
        {
            sender.abort();
        }
    }
}

async fn send(audience: Audience, mut happened: mpsc::Receiver<Happened>) {
    let mut step = 0.0;
    let mut batch = Vec::new();
    while happened.recv_many(&mut batch, QUEUE).await > 0 {
        let mut last = None;
        for happened in batch.drain(..) {
            let text = match happened {
                Happened::Calls { made, ended, tool } => {
                    format!("{ended} of {made} calls done, last {tool}")
                }
                Happened::Told { text } => text,
                Happened::Line { level, text } => {
                    log(&audience, level, &text).await;
                    text
                }
            };
            last = Some(text);
        }
        if let (Some(token), Some(text)) = (&audience.progress, last) {
            step += 1.0;
            let notice = Notice::new(audience.guest.outlet().beginning(&text, LINE_CHARS));
            notice.progress(&audience.peer, token.clone(), step).await;
        }
        if happened.is_closed() {
            continue;
        }
        tokio::time::sleep(BETWEEN).await;
    }
}

async fn log(audience: &Audience, level: Level, text: &str) {
    let severity = severity(level);
    if audience
        .log_level
        .is_some_and(|lowest| severity_number(severity) >= lowest)
    {
        let notice = Notice::new(audience.guest.outlet().text(text));
        notice.log(&audience.peer, severity).await;
    }
}

/// The only thing that is sent by itself.
struct Notice(Scrubbed<String>);

impl Notice {
    fn new(text: Scrubbed<String>) -> Self {
        Self(text)
    }

    async fn progress(self, peer: &Peer<RoleServer>, token: ProgressToken, step: f64) {
        let text = self.0.into_inner();
        let param = ProgressNotificationParam::new(token, step).with_message(text);
        // A client that is gone hears nothing.
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
