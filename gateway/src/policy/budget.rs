//! The budget of one run: calls, calls of certain tools, and time.
//!
//! The time budget is the sum of the durations of all calls, each from when it was sent, so ten
//! concurrent calls spend it ten times as fast.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_guards::GuardName;
use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::globs::ToolGlob;
use super::refusal::{Refusal, RefusalKind};

/// `policy.budget`, for each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct BudgetConfig {
    /// Maximum number of calls. If absent, only the run's own limit counts.
    pub calls: u32,
    /// Maximum number of calls of certain tools, by glob. The tools of one glob share it.
    pub tools: BTreeMap<ToolGlob, u32>,
    /// Maximum time of all calls together. If absent, only the run's own time limit counts.
    pub time: Option<HumanDuration>,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self {
            calls: u32::MAX,
            tools: BTreeMap::new(),
            time: None,
        }
    }
}

impl BudgetConfig {
    /// The budget of a run with limits of its own. They can only lower the operator's.
    pub fn lowered(mut self, calls: Option<u32>, time: Option<HumanDuration>) -> Self {
        self.calls = calls.map_or(self.calls, |calls| calls.min(self.calls));
        self.time = match (self.time, time) {
            (Some(own), Some(asked)) => Some(own.min(asked)),
            (own, asked) => own.or(asked),
        };
        self
    }
}

/// The remaining budget of a run. Clones share it.
#[derive(Debug, Clone)]
pub struct RunBudget {
    config: Arc<BudgetConfig>,
    /// Whose rates and concurrency count for the calls of the run.
    principal: Arc<str>,
    spent: Arc<Mutex<Spent>>,
}

#[derive(Debug, Default)]
struct Spent {
    calls: u32,
    tools: HashMap<ToolGlob, u32>,
    finished: Duration,
    running: HashMap<u64, Instant>,
    next: u64,
}

impl Spent {
    fn time(&self, now: Instant) -> Duration {
        self.running
            .values()
            .map(|sent_at| now.saturating_duration_since(*sent_at))
            .fold(self.finished, Duration::saturating_add)
    }
}

impl RunBudget {
    /// A full budget.
    pub fn new(config: &BudgetConfig) -> Self {
        Self {
            config: Arc::new(config.clone()),
            principal: "local".into(),
            spent: Arc::default(),
        }
    }

    /// The same budget, for the run of a principal.
    #[must_use]
    pub fn of_principal(self, principal: &str) -> Self {
        Self {
            principal: principal.into(),
            ..self
        }
    }

    /// Who runs it.
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// Spends one call.
    ///
    /// # Errors
    /// A part of the budget is used up; then nothing is spent.
    pub fn spend_call(&self, id: &str) -> Result<(), Refusal> {
        let mut spent = self.lock();
        if spent.calls >= self.config.calls {
            let calls = self.config.calls;
            return Err(over(
                RefusalKind::Calls,
                id,
                &format!("all {calls} calls"),
                "do more with each call or ask for less",
            ));
        }
        let covering = || {
            self.config
                .tools
                .iter()
                .filter(|(glob, _)| glob.matches(id))
        };
        for (glob, calls) in covering() {
            if spent.tools.get(glob).copied().unwrap_or(0) >= *calls {
                return Err(over(
                    RefusalKind::Calls,
                    id,
                    &format!("all {calls} calls of `{glob}`"),
                    "reuse the results of earlier calls, or use another tool",
                ));
            }
        }
        self.time_left(&spent, id)?;
        spent.calls += 1;
        for (glob, _) in covering() {
            *spent.tools.entry(glob.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// Starts the clock of a call that is being sent. Its time is spent when the clock is dropped.
    ///
    /// # Errors
    /// The time budget is used up.
    pub fn start_clock(&self, id: &str) -> Result<CallClock, Refusal> {
        let mut spent = self.lock();
        let time_left = self.time_left(&spent, id)?;
        let number = spent.next;
        spent.next += 1;
        spent.running.insert(number, Instant::now());
        Ok(CallClock {
            budget: self.clone(),
            number,
            time_left,
        })
    }

    /// Whether a call of this tool could be spent after `others` of any tool. No, if the time is limited.
    pub fn has_room(&self, id: &str, others: u32) -> bool {
        let spent = self.lock();
        let fits = |calls: u32, limit: u32| calls.saturating_add(others) < limit;
        let tools = &self.config.tools;
        let mut covering = tools.iter().filter(|(glob, _)| glob.matches(id));
        self.config.time.is_none()
            && fits(spent.calls, self.config.calls)
            && covering
                .all(|(glob, limit)| fits(spent.tools.get(glob).copied().unwrap_or(0), *limit))
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u32 {
        self.lock().calls
    }

    fn time_left(&self, spent: &Spent, id: &str) -> Result<Option<Duration>, Refusal> {
        let Some(time) = self.config.time else {
            return Ok(None);
        };
        let left = time.get().saturating_sub(spent.time(Instant::now()));
        if left.is_zero() {
            return Err(over(
                RefusalKind::Timeout,
                id,
                &format!("the {time} that all its calls may take together"),
                "make fewer or faster calls",
            ));
        }
        Ok(Some(left))
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over(kind: RefusalKind, id: &str, what: &str, remedy: &str) -> Refusal {
    let guard = match kind {
        RefusalKind::Timeout => GuardName::Time,
        _ => GuardName::Limits,
    };
    let message = format!("`{id}` was not called: this run has used {what}; {remedy}");
    Refusal::permanent(kind, message).of(guard)
}

/// Measures the time of one call.
#[derive(Debug)]
#[must_use = "the clock stops when it is dropped"]
pub struct CallClock {
    budget: RunBudget,
    number: u64,
    time_left: Option<Duration>,
}

impl CallClock {
    /// The rest of the run's time budget, if it has one.
    pub fn time_left(&self) -> Option<Duration> {
        self.time_left
    }
}

impl Drop for CallClock {
    fn drop(&mut self) {
        let mut spent = self.budget.lock();
        if let Some(sent_at) = spent.running.remove(&self.number) {
            spent.finished = spent.finished.saturating_add(sent_at.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::time::advance;

    fn config(json: serde_json::Value) -> BudgetConfig {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_call_after_the_last_is_refused_and_does_not_count() {
        let budget = RunBudget::new(&config(serde_json::json!({"calls": 2})));
        budget.spend_call("a:x").unwrap();
        budget.spend_call("a:x").unwrap();
        let refusal = budget.spend_call("a:x").unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Calls);
        assert!(!refusal.retryable);
        assert!(
            refusal.message.contains("all 2 calls"),
            "{}",
            refusal.message
        );
        assert_eq!(budget.calls(), 2);
    }

    #[test]
    fn there_is_room_for_as_many_calls_as_could_be_spent() {
        let limited = config(serde_json::json!({"calls": 3, "tools": {"a:*": 2}}));
        let budget = RunBudget::new(&limited);
        assert!(budget.has_room("a:x", 1) && !budget.has_room("a:x", 2));
        budget.spend_call("a:x").unwrap();
        assert!(budget.has_room("a:x", 0) && !budget.has_room("a:x", 1));
        assert!(budget.has_room("b:x", 1) && !budget.has_room("b:x", 2));
        assert_eq!(budget.calls(), 1);
        let timed = RunBudget::new(&config(serde_json::json!({"time": "1m"})));
        assert!(!timed.has_room("a:x", 0));
    }

    #[test]
    fn tools_of_one_glob_share_its_number_and_a_refusal_costs_nothing() {
        let budget = RunBudget::new(&config(
            serde_json::json!({"calls": 3, "tools": {"*:write_*": 1}}),
        ));
        budget.spend_call("a:write_x").unwrap();
        let refusal = budget.spend_call("b:write_y").unwrap_err();
        assert!(
            refusal.message.contains("`*:write_*`"),
            "{}",
            refusal.message
        );
        budget.spend_call("a:read").unwrap();
        budget.spend_call("a:read").unwrap();
        assert!(budget.spend_call("a:read").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn time_of_calls_at_once_adds_up() {
        let budget = RunBudget::new(&config(serde_json::json!({"time": "10s"})));
        let one = budget.start_clock("a:x").unwrap();
        let two = budget.start_clock("a:x").unwrap();
        assert_eq!(one.time_left(), Some(Duration::from_secs(10)));
        advance(Duration::from_secs(3)).await;
        drop(one);
        let three = budget.start_clock("a:x").unwrap();
        assert_eq!(three.time_left(), Some(Duration::from_secs(4)));
        advance(Duration::from_secs(2)).await;
        let refusal = budget.spend_call("a:x").unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Timeout);
        drop((two, three));
        assert!(budget.start_clock("a:x").is_err());
    }

    #[test]
    fn a_run_can_lower_its_budget_but_not_raise_it() {
        let operator = config(serde_json::json!({"calls": 50, "time": "10s"}));
        let lower = operator
            .clone()
            .lowered(Some(5), Some(HumanDuration::from_secs(1)));
        assert_eq!(
            (lower.calls, lower.time),
            (5, Some(HumanDuration::from_secs(1)))
        );
        let higher = operator
            .clone()
            .lowered(Some(500), Some(HumanDuration::from_secs(100)));
        assert_eq!(higher, operator);
        let unlimited = config(serde_json::json!({}));
        assert_eq!(
            unlimited
                .lowered(None, Some(HumanDuration::from_secs(1)))
                .time,
            Some(HumanDuration::from_secs(1))
        );
    }

    proptest! {
        #[test]
        fn no_mix_of_calls_gets_past_any_number(ids in prop::collection::vec("[ab]:[xy]", 0..60)) {
            let budget = RunBudget::new(&config(
                serde_json::json!({"calls": 20, "tools": {"a:*": 7, "*:x": 9}}),
            ));
            let made: Vec<_> = ids.iter().filter(|id| budget.spend_call(id).is_ok()).collect();
            prop_assert!(made.len() <= 20);
            prop_assert!(made.iter().filter(|id| id.starts_with("a:")).count() <= 7);
            prop_assert!(made.iter().filter(|id| id.ends_with(":x")).count() <= 9);
            prop_assert_eq!(budget.calls() as usize, made.len());
        }
    }
}
