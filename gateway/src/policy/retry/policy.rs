//! Decides whether and when a call is retried.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::backoff::Backoff;
use super::budget::RetryBudget;
use super::config::RetryConfig;
use crate::policy::globs::server_of;

/// How far a failed attempt got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The server cannot have seen the call: it did not start, or the connection was gone before
    /// anything was written.
    NeverSent,
    /// The call was sent without a response: the connection broke, or it timed out. It may have had
    /// its effect.
    Unanswered,
    /// The server responded with an error of the tool or of the protocol. A retry would get the
    /// same response.
    Answered,
}

/// Creates the [`Attempts`] of each call.
#[derive(Debug)]
pub struct RetryPolicy {
    config: RetryConfig,
    /// One budget per server, so that a server which is down does not spend the retries of the
    /// others. Only configured servers have an entry.
    budgets: Mutex<HashMap<String, SharedBudget>>,
}

type SharedBudget = Arc<Mutex<RetryBudget>>;

impl RetryPolicy {
    /// The policy of a configuration.
    pub fn new(config: &RetryConfig) -> Self {
        Self {
            config: config.clone(),
            budgets: Mutex::new(HashMap::new()),
        }
    }

    /// Begins a call. Its first attempt is free; [`Attempts::after`] decides about the others.
    /// `is_repeatable` says whether the call may be sent again when its outcome is not known.
    pub fn begin(&self, id: &str, is_repeatable: bool) -> Attempts {
        let budget = self.budget(server_of(id));
        lock(&budget).earn();
        Attempts {
            left: self.config.attempts.get() - 1,
            is_repeatable,
            backoff: Backoff::new(self.config.first_delay.get(), self.config.max_delay.get()),
            budget,
        }
    }

    fn budget(&self, server: &str) -> SharedBudget {
        let mut budgets = lock(&self.budgets);
        if let Some(budget) = budgets.get(server) {
            return budget.clone();
        }
        let budget = Arc::new(Mutex::new(RetryBudget::new(self.config.budget)));
        budgets.insert(server.to_owned(), budget.clone());
        budget
    }
}

/// The attempts of one call.
#[derive(Debug)]
pub struct Attempts {
    left: u32,
    is_repeatable: bool,
    backoff: Backoff,
    budget: SharedBudget,
}

impl Attempts {
    /// How long to wait before the next attempt, or `None` if the failure is final.
    pub fn after(&mut self, failure: Failure) -> Option<Duration> {
        let safe = match failure {
            Failure::NeverSent => true,
            Failure::Unanswered => self.is_repeatable,
            Failure::Answered => false,
        };
        if !safe || self.left == 0 || !lock(&self.budget).spend() {
            return None;
        }
        self.left -= 1;
        Some(self.backoff.next_delay())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(json: serde_json::Value) -> RetryPolicy {
        RetryPolicy::new(&serde_json::from_value(json).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_was_never_sent_is_retried_until_the_attempts_are_used() {
        let mut attempts = policy(serde_json::json!({"attempts": 3})).begin("fs:write", false);
        assert!(attempts.after(Failure::NeverSent).is_some());
        assert!(attempts.after(Failure::NeverSent).is_some());
        assert!(attempts.after(Failure::NeverSent).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_may_have_had_its_effect_is_not_retried() {
        let mut attempts = policy(serde_json::json!({})).begin("fs:write", false);
        assert_eq!(attempts.after(Failure::Unanswered), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_repeatable_call_is_retried_without_a_response() {
        let mut attempts = policy(serde_json::json!({})).begin("fs:read", true);
        assert!(attempts.after(Failure::Unanswered).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_with_a_response_is_never_retried() {
        let mut attempts = policy(serde_json::json!({})).begin("fs:read", true);
        assert_eq!(attempts.after(Failure::Answered), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_down_does_not_spend_the_retries_of_another() {
        let policy = policy(serde_json::json!({"attempts": 1000}));
        let mut down = policy.begin("down:x", false);
        let retries = std::iter::from_fn(|| down.after(Failure::NeverSent)).count();
        assert_eq!(retries, 10);
        let mut up = policy.begin("up:x", false);
        assert!(up.after(Failure::NeverSent).is_some());
    }
}
