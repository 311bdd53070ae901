//! The deadline of a run, which moves while a person is asked.

use std::time::Duration;

use pml_protocol::RunClock;
use tokio::sync::watch;
use tokio::time::Instant;

/// An event of a [`Deadline`].
#[derive(Debug, PartialEq, Eq)]
pub enum DeadlineEvent {
    /// The run must end.
    Passed,
    /// The run's clock was stopped or goes on.
    Clock {
        /// Whether it is stopped.
        stopped: bool,
    },
}

/// The deadline of a run. It moves while the run's clock is paused: time in which a person is asked
/// does not count.
pub struct Deadline {
    at: Instant,
    paused_at: Option<Instant>,
    pauses: watch::Receiver<usize>,
    /// The run is being ended; it gains no more time.
    is_final: bool,
}

impl Deadline {
    pub fn after(time: Duration, clock: &RunClock) -> Self {
        Self {
            at: Instant::now() + time,
            paused_at: None,
            pauses: clock.pauses(),
            is_final: false,
        }
    }

    /// Sets the deadline to `time` from now.
    pub fn restart(&mut self, time: Duration) {
        self.at = Instant::now() + time;
    }

    /// Ends the run after this grace period at the latest, whether the clock is paused or not.
    pub fn shorten(&mut self, grace: Duration) {
        self.at = self.at.min(Instant::now() + grace);
        self.is_final = true;
    }

    /// Returns when the deadline has passed, or when the clock stops or goes on.
    ///
    /// # Cancel safety
    ///
    /// An event that is not returned is returned by the next call.
    pub async fn next(&mut self) -> DeadlineEvent {
        loop {
            let is_timed = self.paused_at.is_none() || self.is_final;
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.at), if is_timed => return DeadlineEvent::Passed,
                // The run holds the sender, so the channel stays open.
                Ok(()) = self.pauses.changed() => {
                    if let Some(stopped) = self.note_pause() {
                        return DeadlineEvent::Clock { stopped };
                    }
                }
            }
        }
    }

    /// Whether the clock is stopped, if that has changed.
    fn note_pause(&mut self) -> Option<bool> {
        let is_paused = *self.pauses.borrow_and_update() > 0;
        match (is_paused, self.paused_at) {
            (true, None) => {
                self.paused_at = Some(Instant::now());
                Some(true)
            }
            (false, Some(since)) => {
                if !self.is_final {
                    self.at += since.elapsed();
                }
                self.paused_at = None;
                Some(false)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(100);

    async fn has_passed(deadline: &mut Deadline, within: Duration) -> bool {
        let event = tokio::time::timeout(within, deadline.next()).await;
        event == Ok(DeadlineEvent::Passed)
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_a_person_is_asked_does_not_count() {
        let clock = RunClock::default();
        let mut deadline = Deadline::after(SHORT, &clock);
        let pause = clock.pause();
        let stopped = DeadlineEvent::Clock { stopped: true };
        assert_eq!(deadline.next().await, stopped);
        assert!(!has_passed(&mut deadline, SHORT * 10).await);
        drop(pause);
        let goes_on = DeadlineEvent::Clock { stopped: false };
        assert_eq!(deadline.next().await, goes_on);
        assert!(!has_passed(&mut deadline, SHORT / 2).await);
        assert!(has_passed(&mut deadline, SHORT).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_is_being_ended_gains_no_time() {
        let clock = RunClock::default();
        let mut deadline = Deadline::after(SHORT * 100, &clock);
        let _pause = clock.pause();
        let stopped = DeadlineEvent::Clock { stopped: true };
        assert_eq!(deadline.next().await, stopped);
        deadline.shorten(SHORT);
        assert!(has_passed(&mut deadline, SHORT * 2).await);
    }
}
