//! The retry budget of a server.

use tokio::time::Instant;

use crate::policy::Ratio;

/// Retries that are allowed after a time without calls.
const RESERVE: f64 = 10.0;
/// How fast a spent reserve refills, in retries per second.
const REFILL_PER_SECOND: f64 = 1.0;

/// Every call earns a fraction of a retry, and every retry costs one.
///
/// Without a budget, three attempts per call triple the load on a server that is already failing.
#[derive(Debug)]
pub struct RetryBudget {
    earned_per_call: f64,
    credit: f64,
    filled_at: Instant,
}

impl RetryBudget {
    /// A full budget; every call earns `ratio` of a retry.
    pub fn new(ratio: Ratio) -> Self {
        Self {
            earned_per_call: ratio.get(),
            credit: RESERVE,
            filled_at: Instant::now(),
        }
    }

    /// Counts the first attempt of a call.
    pub fn earn(&mut self) {
        self.fill();
        // Capped at twice the reserve: more would let a long quiet time pay for a retry storm.
        self.credit = (self.credit + self.earned_per_call).min(2.0 * RESERVE);
    }

    /// Spends one retry, if there is one.
    pub fn spend(&mut self) -> bool {
        self.fill();
        let enough = self.credit >= 1.0;
        if enough {
            self.credit -= 1.0;
        }
        enough
    }

    fn fill(&mut self) {
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.filled_at = now;
        if self.credit < RESERVE {
            self.credit = (self.credit + elapsed * REFILL_PER_SECOND).min(RESERVE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn retries_stay_a_ratio_of_the_calls() {
        let mut budget = RetryBudget::new(Ratio::FIFTH);
        let mut retries = 0;
        for _ in 0..1000 {
            budget.earn();
            while budget.spend() {
                retries += 1;
            }
        }
        assert!(
            (200..=211).contains(&retries),
            "{retries} retries for 1000 calls"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_spent_budget_comes_back_with_time() {
        let mut budget = RetryBudget::new(Ratio::FIFTH);
        while budget.spend() {}
        tokio::time::advance(Duration::from_secs(3)).await;
        let again = std::iter::from_fn(|| budget.spend().then_some(())).count();
        assert_eq!(again, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_quiet_time_saves_up_no_more_than_the_reserve() {
        let mut budget = RetryBudget::new(Ratio::FIFTH);
        tokio::time::advance(Duration::from_secs(3600)).await;
        let saved = std::iter::from_fn(|| budget.spend().then_some(())).count();
        assert_eq!(saved, 10);
    }
}
