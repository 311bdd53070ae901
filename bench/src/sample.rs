//! Samples of durations and their statistics.

use std::time::{Duration, Instant};

/// Measured durations of one operation.
#[derive(Debug, Clone, Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    /// Adds a measurement.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The number of measurements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The quantile at `share`, from 0 to 1; zero for an empty sample.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let index = (share * last as f64).round() as usize;
        sorted.get(index).copied().unwrap_or_default()
    }

    /// The median; zero for an empty sample.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

impl FromIterator<Duration> for Sample {
    fn from_iter<T: IntoIterator<Item = Duration>>(times: T) -> Self {
        Self(times.into_iter().collect())
    }
}

/// Runs `work` and measures its wall-clock time.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let value = work();
    (value, started.elapsed())
}

/// The duration in milliseconds, with two decimals and the unit.
pub fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
