//! Counts over a sliding time window.

use std::time::Duration;

use tokio::time::Instant;

/// The window is divided into this many steps and forgets one at a time: exact enough to decide, and
/// the cost does not depend on the number of calls.
const STEPS: usize = 10;

/// The outcomes of the calls in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failed = self.failed.saturating_add(other.failed);
        self.slow = self.slow.saturating_add(other.slow);
    }
}

#[derive(Debug)]
pub(super) struct Window {
    step: Duration,
    steps: [Counts; STEPS],
    /// The number of the step that is being written, counted from `start`.
    current: u64,
    start: Instant,
}

impl Window {
    pub(super) fn new(span: Duration, now: Instant) -> Self {
        Self {
            step: (span / STEPS as u32).max(Duration::from_millis(1)),
            steps: [Counts::default(); STEPS],
            current: 0,
            start: now,
        }
    }

    pub(super) fn record(&mut self, failed: bool, slow: bool, now: Instant) {
        self.advance(now);
        let step = (self.current % STEPS as u64) as usize;
        self.steps[step].add(Counts {
            calls: 1,
            failed: u32::from(failed),
            slow: u32::from(slow),
        });
    }

    pub(super) fn counts(&mut self, now: Instant) -> Counts {
        self.advance(now);
        let mut sum = Counts::default();
        for step in self.steps {
            sum.add(step);
        }
        sum
    }

    fn advance(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.start);
        let target = u64::try_from(elapsed.as_nanos() / self.step.as_nanos()).unwrap_or(u64::MAX);
        let passed = target.saturating_sub(self.current).min(STEPS as u64);
        for n in 1..=passed {
            let step = ((self.current + n) % STEPS as u64) as usize;
            self.steps[step] = Counts::default();
        }
        if target > self.current {
            // The steps in between were cleared above; after a whole turn, all of them were.
            self.current = target;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPAN: Duration = Duration::from_secs(10);

    #[test]
    fn calls_are_forgotten_when_the_window_has_passed_them() {
        let start = Instant::now();
        let mut window = Window::new(SPAN, start);
        window.record(true, false, start);
        assert_eq!(window.counts(start + Duration::from_secs(9)).failed, 1);
        assert_eq!(window.counts(start + Duration::from_secs(10)).failed, 0);
    }

    proptest! {
        /// Compared with a list of every call: the window has all calls of its last nine tenths and
        /// none that is older than the whole window.
        #[test]
        fn counts_agree_with_a_full_record(gaps_ms in prop::collection::vec((0u64..5000, any::<bool>()), 1..80)) {
            let start = Instant::now();
            let mut window = Window::new(SPAN, start);
            let mut record = Vec::new();
            let mut now = start;
            for (gap, failed) in gaps_ms {
                now += Duration::from_millis(gap);
                window.record(failed, false, now);
                record.push((now, failed));
                let within = |span: Duration| {
                    record.iter().filter(|(at, _)| now.duration_since(*at) < span).count() as u32
                };
                let counts = window.counts(now);
                prop_assert!(counts.calls >= within(SPAN * 9 / 10));
                prop_assert!(counts.calls <= within(SPAN));
                prop_assert!(counts.failed <= counts.calls);
            }
        }
    }
}
