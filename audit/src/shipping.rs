//! Sends the events of all logs to the sinks, in the background.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::cursor::{self, SinkCursor};
use crate::error::AuditError;
use crate::folder::log_files;
use crate::sink::{Sink, WhileAway};
use crate::sink_gate::SinkGate;

/// How often the logs are looked at. An event does not wait for a sink, and wakes none.
const INTERVAL: Duration = Duration::from_secs(1);
/// Events of one batch.
const BATCH: usize = 100;
/// The longest pause after a failure.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// How long the last events have to be sent when the process ends.
const FLUSH_TIME: Duration = Duration::from_secs(3);

/// The tasks that send. They also send what other processes left in their logs.
pub struct Shipping {
    closing: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Shipping {
    /// Starts to send the events of the logs below `folder`. `gate` is closed while a sink is away that
    /// calls have to wait for.
    ///
    /// # Panics
    ///
    /// If called outside a Tokio runtime.
    pub fn start(folder: &Path, sinks: Vec<Sink>, gate: &SinkGate) -> Self {
        let (closing, is_closing) = watch::channel(false);
        let tasks = sinks.into_iter().map(|sink| {
            let shipper = Shipper {
                folder: folder.to_owned(),
                sink,
                cursors: Vec::new(),
                is_failing: false,
                gate: gate.clone(),
            };
            tokio::spawn(shipper.run(is_closing.clone()))
        });
        Self {
            tasks: tasks.collect(),
            closing,
        }
    }

    /// Sends what is left, for at most 3 seconds. What is left then is sent by the next process.
    pub async fn close(self) {
        self.closing.send_replace(true);
        let all = async {
            for task in self.tasks {
                // A panic is reported by the panic hook.
                let _ = task.await;
            }
        };
        let _ = tokio::time::timeout(FLUSH_TIME, all).await;
    }
}

struct Shipper {
    folder: PathBuf,
    sink: Sink,
    cursors: Vec<SinkCursor>,
    is_failing: bool,
    gate: SinkGate,
}

impl Shipper {
    async fn run(mut self, mut closing: watch::Receiver<bool>) {
        let (mut pause, mut due) = (INTERVAL, Instant::now());
        loop {
            let is_last = *closing.borrow();
            if is_last || Instant::now() >= due {
                pause = match self.ship().await {
                    Ok(()) => {
                        if std::mem::take(&mut self.is_failing) {
                            tracing::info!(sink = %self.sink.name, "the sink takes audit events again");
                        }
                        INTERVAL
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut self.is_failing, true) {
                            tracing::warn!(
                                sink = %self.sink.name, %error,
                                "the sink does not take audit events; they stay in the log and are sent when it does"
                            );
                        }
                        (pause * 2).min(MAX_PAUSE)
                    }
                };
                due = Instant::now() + pause;
            }
            if let Err(error) = self.bound() {
                tracing::warn!(sink = %self.sink.name, %error, "the events that wait for a sink are not known");
            }
            if is_last {
                return;
            }
            // What waits is looked at also while the sink has a longer pause.
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                _ = closing.wait_for(|is_closing| *is_closing) => {}
            }
        }
    }

    /// Sends everything that the sink does not have.
    async fn ship(&mut self) -> Result<(), String> {
        self.find_logs().map_err(|error| error.to_string())?;
        for cursor in &mut self.cursors {
            loop {
                let events = cursor.batch(BATCH).map_err(|error| error.to_string())?;
                if events.is_empty() {
                    break;
                }
                self.sink.send(&events).await?;
                let count = events.len() as u64;
                cursor.advance(count).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Keeps the events that wait within the bound that the operator chose.
    fn bound(&mut self) -> Result<(), AuditError> {
        match self.sink.away {
            WhileAway::Wait => Ok(()),
            WhileAway::Skip(most) if self.is_failing => self.skip(most),
            WhileAway::Skip(_) => Ok(()),
            WhileAway::Block(most) => {
                let mut waiting = 0;
                for files in log_files(&self.folder)? {
                    waiting += cursor::waiting(&files, &self.sink.name)?;
                }
                if self.is_failing && waiting > most {
                    if self.gate.close(&self.sink.name, waiting) {
                        tracing::error!(
                            sink = %self.sink.name, waiting,
                            "calls are refused until the sink takes audit events"
                        );
                    }
                } else if self.gate.open(&self.sink.name) {
                    tracing::info!(sink = %self.sink.name, "calls are sent again");
                }
                Ok(())
            }
        }
    }

    /// Passes over the oldest events beyond `most`. The ids of those that the sink gets show the gap.
    fn skip(&mut self, most: u64) -> Result<(), AuditError> {
        let mut waiting = 0;
        for cursor in &self.cursors {
            waiting += cursor.waiting()?;
        }
        let mut excess = waiting.saturating_sub(most);
        if excess == 0 {
            return Ok(());
        }
        tracing::warn!(
            sink = %self.sink.name, events = excess,
            "more events wait for the sink than its `spool`: it does not get the oldest ones, which stay in the log"
        );
        for cursor in &mut self.cursors {
            let passed = cursor.waiting()?.min(excess);
            cursor.advance(passed)?;
            excess -= passed;
        }
        Ok(())
    }

    /// Takes the logs that no other process sends to this sink.
    fn find_logs(&mut self) -> Result<(), AuditError> {
        for files in log_files(&self.folder)? {
            let is_known = |cursor: &SinkCursor| cursor.folder() == files.folder;
            if !self.cursors.iter().any(is_known) {
                self.cursors
                    .extend(SinkCursor::acquire(files, &self.sink.name)?);
            }
        }
        Ok(())
    }
}
