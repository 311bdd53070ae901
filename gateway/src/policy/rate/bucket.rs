//! A token bucket.

use std::time::Duration;

use tokio::time::Instant;

use super::config::Rate;

/// Fills at a steady rate up to its burst. The level may go below zero: the debt is the time that a
/// call has to wait, which makes waiting first come first served.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: Rate,
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self {
            rate,
            tokens: f64::from(rate.burst().get()),
            filled_at: now,
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// How long after `now` a token that is taken now may be used.
    pub(super) fn wait(&mut self, now: Instant) -> Duration {
        self.fill(now);
        let missing = 1.0 - self.tokens;
        if missing <= 0.0 {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(missing / self.rate.calls_per_second())
        }
    }

    pub(super) fn is_full(&mut self, now: Instant) -> bool {
        self.fill(now);
        self.tokens >= f64::from(self.rate.burst().get())
    }

    pub(super) fn draw(&mut self) {
        self.tokens -= 1.0;
    }

    pub(super) fn give_back(&mut self) {
        self.tokens = (self.tokens + 1.0).min(f64::from(self.rate.burst().get()));
    }

    fn fill(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.filled_at);
        self.filled_at = now;
        self.tokens = (self.tokens + elapsed.as_secs_f64() * self.rate.calls_per_second())
            .min(f64::from(self.rate.burst().get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The guarantee of a token bucket, whatever the arrivals: in any interval at most the burst
        /// plus the rate times the interval.
        #[test]
        fn no_interval_has_more_calls_than_burst_plus_rate(
            gaps_ms in prop::collection::vec(0u64..400, 1..60),
            calls in 1u32..20,
            burst in 1u32..10,
        ) {
            let rate: Rate = format!("{calls}/s burst {burst}").parse().unwrap();
            let start = Instant::now();
            let mut bucket = Bucket::full(rate, start);
            let mut now = start;
            let mut starts = Vec::new();
            for gap in gaps_ms {
                now += Duration::from_millis(gap);
                starts.push(now + bucket.wait(now));
                bucket.draw();
            }
            for (i, from) in starts.iter().enumerate() {
                for (j, to) in starts.iter().enumerate().skip(i) {
                    let span = to.saturating_duration_since(*from).as_secs_f64();
                    let most = f64::from(burst) + span * f64::from(calls) + 1e-6;
                    prop_assert!((j - i + 1) as f64 <= most, "{} calls in {span} s", j - i + 1);
                }
            }
        }

        #[test]
        fn waiting_calls_start_in_the_order_they_came(gaps_ms in prop::collection::vec(0u64..50, 2..40)) {
            let start = Instant::now();
            let mut bucket = Bucket::full("10/s burst 2".parse().unwrap(), start);
            let mut now = start;
            let mut last = start;
            for gap in gaps_ms {
                now += Duration::from_millis(gap);
                let at = now + bucket.wait(now);
                bucket.draw();
                prop_assert!(at + Duration::from_micros(1) >= last);
                last = at;
            }
        }
    }
}
