//! All parts of a policy, and the order in which they apply to a call.

use std::time::Duration;

use pml_policy::authorize::{PolicyEngine, PolicyFile};

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

/// The operator's policy, shared by all runs. `R` is the type of cached results.
///
/// The steps of a call; each may end it with a [`Refusal`]:
///
/// 1. `filter.verdict(id)`: before the tool is looked up, so that a denied tool stays hidden. The policy
///    file decides once the tool is known, and again with the arguments that are sent.
/// 2. `budget.spend_call(id)`: once per call of a script, also if the cache has the result.
/// 3. `cache.get(id, args)`: a hit ends the call.
/// 4. `retry.begin(id, is_repeatable)`, then for each attempt [`Policy::admit`], send, [`Admission::finish`],
///    and after a failure `attempts.after(failure)` for the delay before the next.
/// 5. `cache.put(id, args, ..)` for a result without error.
#[derive(Debug)]
pub struct Policy<R = serde_json::Value> {
    /// Allowed and denied tools.
    pub filter: ToolFilter,
    /// The policy file; it decides after the filter.
    pub engine: Option<PolicyEngine>,
    /// Calls that the user has to approve.
    pub ask: AskRule,
    /// Rate limits.
    pub rate: RateLimiter,
    /// Concurrency limits.
    pub bulkhead: Bulkhead,
    /// Retries.
    pub retry: RetryPolicy,
    /// Circuit breakers.
    pub breakers: Breakers,
    /// Cached results.
    pub cache: ResultCache<R>,
    budget: BudgetConfig,
}

impl<R> Policy<R> {
    /// The policy of a configuration without a policy file.
    pub fn new(config: &PolicyConfig) -> Self {
        Self {
            engine: None,
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

    /// The same policy with a policy file.
    #[must_use]
    pub fn with_file(self, file: Option<PolicyFile>, config: &PolicyConfig) -> Self {
        let engine = file.map(|file| PolicyEngine::new(Some(file), &config.glob_rules()));
        Self { engine, ..self }
    }

    /// The budget of each run, which it can lower.
    pub fn budget(&self) -> &BudgetConfig {
        &self.budget
    }

    /// Waits until an attempt may be sent. `id` is a tool of a configured server.
    ///
    /// The caller starts the attempt's time limit when this returns: queueing does not count.
    ///
    /// # Errors
    /// A limit is reached, the queue is full or the breaker is open.
    ///
    /// # Cancel safety
    /// Dropping the future leaves every queue.
    pub async fn admit(
        &self,
        id: &str,
        run: &RunBudget,
        takes_slots: bool,
    ) -> Result<Admission, Refusal> {
        // Checked first: a call must not queue for a server whose breaker is open.
        self.breakers.check(id)?;
        // Slots before tokens, so that a token is used as soon as it is taken and a long queue cannot
        // turn a steady rate into a burst.
        let principal = Some(run.principal());
        let slots = match takes_slots {
            true => self.bulkhead.enter_for(principal, id).await?,
            false => Slots::none(),
        };
        self.rate.admit_for(principal, id).await?;
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
/// cancelled, it frees its slots and does not count for the breaker.
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

    /// Reports the outcome of the attempt and frees its slots.
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
    async fn the_defaults_delay_no_call() {
        let policy = policy(serde_json::json!({}));
        let run = RunBudget::new(policy.budget());
        let start = Instant::now();
        for _ in 0..200 {
            let admission = policy.admit("fs:read", &run, true).await.unwrap();
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
                    let admission = policy.admit("api:slow", &run, true).await.unwrap();
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
            assert!(call.await.unwrap(), "a call timed out in the queue");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_in_line_when_the_breaker_opens_is_not_sent() {
        let policy = policy(serde_json::json!({
            "concurrency": {"perServer": 1}, "breaker": {"minCalls": 1}
        }));
        let run = RunBudget::new(policy.budget());
        let failing = policy.admit("api:x", &run, true).await.unwrap();
        let waiting = tokio::spawn({
            let (policy, run) = (policy.clone(), run.clone());
            async move { policy.admit("api:x", &run, true).await.map(|_| ()) }
        });
        sleep(Duration::from_millis(10)).await;
        failing.finish(Outcome::Failed);
        assert_eq!(waiting.await.unwrap().unwrap_err().kind, RefusalKind::Tool);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_left_to_a_run_shortens_a_calls_own_limit() {
        let policy = policy(serde_json::json!({"budget": {"time": "5s"}}));
        let run = RunBudget::new(policy.budget());
        let admission = policy.admit("api:x", &run, true).await.unwrap();
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
        drop(policy.admit("api:x", &run, true).await.unwrap());
        policy
            .admit("api:x", &run, true)
            .await
            .unwrap()
            .finish(Outcome::Answered);
    }
}
