//! All parts of a policy, and the way a call takes through them.

use std::time::Duration;

use super::approval::AskRule;
use super::breaker::{Breakers, Outcome, Ticket};
use super::budget::{BudgetConfig, CallClock, RunBudget};
use super::bulkhead::{Bulkhead, Slots};
use super::cache::ResultCache;
use super::config::PolicyConfig;
use super::globs::ToolFilter;
use super::rate::RateLimiter;
use super::refusal::Refusal;
use super::retry::RetryPolicy;

/// The operator's rules, shared by all runs. `R` is what the cache keeps.
///
/// A call is made like this; every step may end it with a [`Refusal`]:
///
/// 1. `filter.verdict(id)`: before anything is looked up, so that a hidden tool stays hidden.
/// 2. `budget.spend_call(id)`: once for each call of a script, also if the cache answers it.
/// 3. `cache.get(id, args)`: an answer from here ends the call.
/// 4. `retry.begin(id)`, then for each attempt [`Policy::admit`], send, [`Admission::finish`],
///    and after a failure `attempts.after(failure)` for the delay before the next.
/// 5. `cache.put(id, args, ..)` for an answer that is no error.
#[derive(Debug)]
pub struct Policy<R = serde_json::Value> {
    pub filter: ToolFilter,
    pub ask: AskRule,
    pub rate: RateLimiter,
    pub bulkhead: Bulkhead,
    pub retry: RetryPolicy,
    pub breakers: Breakers,
    pub cache: ResultCache<R>,
    budget: BudgetConfig,
}

impl<R> Policy<R> {
    pub fn new(config: &PolicyConfig) -> Self {
        Self {
            filter: ToolFilter::new(config.allow.clone(), config.deny.clone()),
            ask: AskRule::new(config.ask.clone(), config.ask_time),
            rate: RateLimiter::new(&config.rate),
            bulkhead: Bulkhead::new(&config.concurrency),
            retry: RetryPolicy::new(&config.retry),
            breakers: Breakers::new(&config.breaker),
            cache: ResultCache::new(&config.cache),
            budget: config.budget.clone(),
        }
    }

    /// What a run may spend unless it asks for less.
    pub fn budget(&self) -> &BudgetConfig {
        &self.budget
    }

    /// Waits until an attempt may be sent. `id` is a tool of a configured server.
    ///
    /// The caller starts the attempt's own time limit when this returns: waiting is not part of
    /// it. Dropping the future leaves every line it stood in.
    pub async fn admit(&self, id: &str, run: &RunBudget) -> Result<Admission, Refusal> {
        // A look first: there is no use in queueing for a server that is left alone.
        self.breakers.check(id)?;
        // Slots before tokens, so that a token is used the moment it is drawn and a long line
        // cannot turn a steady rate into a burst.
        let slots = self.bulkhead.enter(id).await?;
        self.rate.admit(id).await?;
        let clock = run.start_clock(id)?;
        let ticket = self.breakers.admit(id)?;
        Ok(Admission {
            ticket,
            slots,
            clock,
        })
    }
}

/// An attempt that may be sent now. Dropped without [`Admission::finish`], as when its run is
/// cancelled, it frees its slots and says nothing about the server.
#[derive(Debug)]
#[must_use = "an attempt is over when its admission is dropped"]
pub struct Admission {
    ticket: Ticket,
    slots: Slots,
    clock: CallClock,
}

impl Admission {
    /// How long the attempt waited for a slot.
    pub fn waited(&self) -> Duration {
        self.slots.waited()
    }

    /// The attempt's time limit: its own, or what is left of the run's if that is less.
    pub fn time_limit(&self, own: Duration) -> Duration {
        self.clock.time_left().map_or(own, |left| left.min(own))
    }

    /// Reports how the attempt ended and frees its slots.
    pub fn finish(self, outcome: Outcome) {
        self.ticket.close(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RefusalKind;
    use std::sync::Arc;
    use tokio::time::{Instant, sleep, timeout};

    fn policy(json: serde_json::Value) -> Arc<Policy> {
        Arc::new(Policy::new(&serde_json::from_value(json).unwrap()))
    }

    #[tokio::test(start_paused = true)]
    async fn the_defaults_hold_no_call_back() {
        let policy = policy(serde_json::json!({}));
        let run = RunBudget::new(policy.budget());
        let start = Instant::now();
        for _ in 0..200 {
            let admission = policy.admit("fs:read", &run).await.unwrap();
            assert_eq!(admission.waited(), Duration::ZERO);
            admission.finish(Outcome::Answered);
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_queue_do_not_lose_their_own_time() {
        let policy = policy(serde_json::json!({"concurrency": {"perServer": 4}}));
        let run = RunBudget::new(policy.budget());
        let calls: Vec<_> = (0..40)
            .map(|_| {
                let (policy, run) = (policy.clone(), run.clone());
                tokio::spawn(async move {
                    let admission = policy.admit("api:slow", &run).await.unwrap();
                    let limit = admission.time_limit(Duration::from_millis(150));
                    let answered = timeout(limit, sleep(Duration::from_millis(100)))
                        .await
                        .is_ok();
                    admission.finish(Outcome::Answered);
                    answered
                })
            })
            .collect();
        for call in calls {
            assert!(call.await.unwrap(), "a call died of queueing");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_in_line_when_the_breaker_opens_is_not_sent() {
        let policy = policy(serde_json::json!({
            "concurrency": {"perServer": 1}, "breaker": {"minCalls": 1}
        }));
        let run = RunBudget::new(policy.budget());
        let failing = policy.admit("api:x", &run).await.unwrap();
        let waiting = tokio::spawn({
            let (policy, run) = (policy.clone(), run.clone());
            async move { policy.admit("api:x", &run).await.map(|_| ()) }
        });
        sleep(Duration::from_millis(10)).await;
        failing.finish(Outcome::Failed);
        assert_eq!(waiting.await.unwrap().unwrap_err().kind, RefusalKind::Tool);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_left_to_a_run_shortens_a_calls_own_limit() {
        let policy = policy(serde_json::json!({"budget": {"time": "5s"}}));
        let run = RunBudget::new(policy.budget());
        let admission = policy.admit("api:x", &run).await.unwrap();
        assert_eq!(
            admission.time_limit(Duration::from_secs(30)),
            Duration::from_secs(5)
        );
        assert_eq!(
            admission.time_limit(Duration::from_secs(1)),
            Duration::from_secs(1)
        );
        drop(admission);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_attempt_frees_its_slot() {
        let policy = policy(serde_json::json!({"concurrency": {"perServer": 1}}));
        let run = RunBudget::new(policy.budget());
        drop(policy.admit("api:x", &run).await.unwrap());
        policy
            .admit("api:x", &run)
            .await
            .unwrap()
            .finish(Outcome::Answered);
    }
}
