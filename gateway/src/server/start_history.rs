//! The starts and failures of a server, for backoff and for `pml doctor`.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::backoff;
use crate::transport::{StartError, StderrTail};

/// A connection that ended sooner than this counts as a failed start: a server that exits at once
/// must not be restarted in a tight loop.
const MIN_LIFETIME: Duration = Duration::from_secs(5);

/// State of a server that outlives its connections.
#[derive(Debug, Default)]
pub struct StartHistory {
    /// Failures in a row.
    failures: u32,
    not_before: Option<Instant>,
    pub starts: u64,
    pub last_start_took: Option<Duration>,
    pub last_error: Option<StartError>,
    pub last_loss: Option<(String, SystemTime)>,
    /// Of the latest start, also while it is in progress.
    pub stderr: StderrTail,
}

impl StartHistory {
    pub fn started(&mut self, took: Duration) {
        self.starts += 1;
        self.last_start_took = Some(took);
        self.last_error = None;
        self.not_before = None;
    }

    pub fn failed(&mut self, error: StartError) {
        self.last_error = Some(error);
        self.back_off();
    }

    /// A connection was lost at the age of `age`. `has_answered` says whether it had answered a
    /// call.
    pub fn lost(&mut self, reason: String, age: Duration, has_answered: bool) {
        self.last_loss = Some((reason, SystemTime::now()));
        if has_answered || age >= MIN_LIFETIME {
            self.failures = 0;
            self.not_before = None;
        } else {
            self.back_off();
        }
    }

    /// Lets the server be started at once.
    pub fn forget_failures(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// How long until the server may be started again; zero if it may be started now.
    pub fn pause_left(&self) -> Duration {
        self.not_before.map_or(Duration::ZERO, |at| {
            at.saturating_duration_since(Instant::now())
        })
    }

    fn back_off(&mut self) {
        self.failures += 1;
        self.not_before = Some(Instant::now() + backoff::pause(self.failures));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_in_a_row_lengthen_the_pause_and_an_answered_call_resets_it() {
        let mut history = StartHistory::default();
        assert_eq!(history.pause_left(), Duration::ZERO);
        for _ in 0..8 {
            history.failed(StartError::ShuttingDown);
        }
        assert!(history.pause_left() > Duration::from_secs(10));
        history.lost("killed".to_owned(), Duration::from_millis(1), true);
        assert_eq!(history.pause_left(), Duration::ZERO);
        history.lost("killed".to_owned(), Duration::from_millis(1), false);
        assert!(history.pause_left() > Duration::ZERO);
    }
}
