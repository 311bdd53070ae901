//! What is remembered of a server across its restarts, for backing off and for `pml doctor`.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::backoff;
use crate::transport::{StartError, StderrTail};

/// A connection that ended sooner than this counts as a failed start: a server that dies at once
/// every time must not be started in a tight loop.
const SHORT_LIFE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Record {
    /// Failures in a row.
    failures: u32,
    not_before: Option<Instant>,
    pub starts: u64,
    pub last_start_took: Option<Duration>,
    pub last_error: Option<StartError>,
    pub last_loss: Option<(String, SystemTime)>,
    /// Of the latest start, also while it is under way.
    pub stderr: StderrTail,
}

impl Record {
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

    /// A connection was lost after `lived`; `proved` when it had answered a call.
    pub fn lost(&mut self, reason: String, lived: Duration, proved: bool) {
        self.last_loss = Some((reason, SystemTime::now()));
        if proved || lived >= SHORT_LIFE {
            self.failures = 0;
            self.not_before = None;
        } else {
            self.back_off();
        }
    }

    /// How long until the server may be started again; zero when it may be now.
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
    async fn failures_in_a_row_lengthen_the_pause_and_a_proven_life_forgives_them() {
        let mut record = Record::default();
        assert_eq!(record.pause_left(), Duration::ZERO);
        for _ in 0..8 {
            record.failed(StartError::ShuttingDown);
        }
        assert!(record.pause_left() > Duration::from_secs(10));
        record.lost("killed".to_owned(), Duration::from_millis(1), true);
        assert_eq!(record.pause_left(), Duration::ZERO);
        record.lost("killed".to_owned(), Duration::from_millis(1), false);
        assert!(record.pause_left() > Duration::ZERO);
    }
}
