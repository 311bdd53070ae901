//! Exponential backoff with full jitter.

use std::time::Duration;

/// Each delay is uniform between zero and a bound that doubles from `first` up to `max`.
///
/// Starting at zero, instead of near the bound, spreads many callers evenly.
#[derive(Debug)]
pub struct Backoff {
    bound: Duration,
    max: Duration,
    random: fastrand::Rng,
}

impl Backoff {
    /// Delays from `first` to `max`.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self::with_random(first, max, fastrand::Rng::new())
    }

    fn with_random(first: Duration, max: Duration, random: fastrand::Rng) -> Self {
        Self {
            bound: first.min(max),
            max,
            random,
        }
    }

    /// The next delay.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.bound.mul_f64(self.random.f64());
        self.bound = self.bound.saturating_mul(2).min(self.max);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn backoff(seed: u64) -> Backoff {
        Backoff::with_random(
            Duration::from_millis(100),
            Duration::from_secs(1),
            fastrand::Rng::with_seed(seed),
        )
    }

    proptest! {
        #[test]
        fn a_delay_lies_below_a_bound_that_doubles_up_to_the_maximum(seed: u64) {
            let mut backoff = backoff(seed);
            for bound_ms in [100, 200, 400, 800, 1000, 1000] {
                prop_assert!(backoff.next_delay() <= Duration::from_millis(bound_ms));
            }
        }
    }

    #[test]
    fn delays_are_spread_over_the_whole_range() {
        let mut low = 0;
        for seed in 0..1000 {
            if backoff(seed).next_delay() < Duration::from_millis(50) {
                low += 1;
            }
        }
        assert!((400..600).contains(&low), "{low} of 1000 in the lower half");
    }
}
