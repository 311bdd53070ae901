//! Sudden changes of a tool: of its latency, its errors, or how often it is called.
//!
//! Time is divided into windows. What is usual is the mean and the variance of the earlier windows, of which
//! later ones count more. A window whose mean deviates by more than a number of standard deviations is an
//! anomaly, once per window and signal.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::anomaly::{Anomaly, AnomalyRules, Caller, Signal, Suspends};

/// Windows before anything is compared.
const MIN_WINDOWS: u32 = 5;
/// How much a new window counts in what is usual.
const WEIGHT: f64 = 0.2;
/// Tools that are watched, at most.
const MAX_TOOLS: usize = 1_000;
/// Principals that are counted in a window of a tool, at most.
const MAX_CALLERS: usize = 100;
/// Latency and call volume must be this many times the usual one.
const MIN_FACTOR: f64 = 2.0;
/// The error rate must be higher than usual by this much.
const MIN_ERRORS: f64 = 0.2;

/// What is usual: the exponentially weighted mean and variance of windows.
#[derive(Debug, Clone, Copy, Default)]
struct Usual {
    mean: f64,
    variance: f64,
}

impl Usual {
    fn add(&mut self, value: f64, is_first: bool) {
        if is_first {
            self.mean = value;
            return;
        }
        let difference = value - self.mean;
        self.mean += WEIGHT * difference;
        self.variance = (1.0 - WEIGHT) * (self.variance + WEIGHT * difference * difference);
    }

    /// Standard deviations; at least `floor` counts as one, so that a tool that never varied may vary.
    fn deviations(&self, value: f64, floor: f64) -> f64 {
        (value - self.mean) / self.variance.sqrt().max(floor)
    }
}

/// One tool.
#[derive(Debug)]
struct Watched {
    began: Instant,
    calls: u32,
    errors: u32,
    seconds: f64,
    /// Calls of the window, and those of them that failed, by principal.
    callers: HashMap<String, (u32, u32)>,
    raised: HashSet<Signal>,
    windows: u32,
    latency: Usual,
    error_rate: Usual,
    volume: Usual,
}

impl Watched {
    fn new(now: Instant) -> Self {
        Self {
            began: now,
            calls: 0,
            errors: 0,
            seconds: 0.0,
            callers: HashMap::new(),
            raised: HashSet::new(),
            windows: 0,
            latency: Usual::default(),
            error_rate: Usual::default(),
            volume: Usual::default(),
        }
    }

    fn mean_seconds(&self) -> f64 {
        self.seconds / f64::from(self.calls.max(1))
    }

    fn error_share(&self) -> f64 {
        f64::from(self.errors) / f64::from(self.calls.max(1))
    }

    /// Ends the window if its time is over.
    fn roll(&mut self, now: Instant, rules: &AnomalyRules) {
        if now.saturating_duration_since(self.began) < rules.window {
            return;
        }
        // A window with few calls says nothing, and one with an anomaly is not usual.
        if self.calls >= rules.min_calls && self.raised.is_empty() {
            let is_first = self.windows == 0;
            self.latency.add(self.mean_seconds(), is_first);
            self.error_rate.add(self.error_share(), is_first);
            self.volume.add(f64::from(self.calls), is_first);
            self.windows += 1;
        }
        (self.began, self.calls, self.errors, self.seconds) = (now, 0, 0, 0.0);
        self.callers.clear();
        self.raised.clear();
    }

    /// Counts a call in its window.
    fn count(&mut self, call: &WatchedCall<'_>) {
        self.calls += 1;
        self.errors += u32::from(call.is_failed);
        self.seconds += call.took.as_secs_f64();
        let known = self.callers.get(call.principal).copied();
        // Where all places are taken, a new caller takes the place and the count of the one with the fewest
        // calls (Space-Saving): one that makes most of the calls is never missed.
        let (calls, errors) = match known {
            Some(counts) => counts,
            None if self.callers.len() < MAX_CALLERS => (0, 0),
            None => self.take_least().unwrap_or_default(),
        };
        let counts = (calls + 1, errors + u32::from(call.is_failed));
        self.callers.insert(call.principal.to_owned(), counts);
    }

    /// Removes the caller with the fewest calls, and returns its counts.
    fn take_least(&mut self) -> Option<(u32, u32)> {
        let all = self.callers.iter();
        let (name, _) = all.min_by_key(|(name, counts)| (**counts, *name))?;
        let name = name.clone();
        self.callers.remove(&name)
    }

    /// Who stands out in a signal.
    fn caller(&self, signal: Signal) -> Option<Caller> {
        let counted = |(calls, errors): &(u32, u32)| match signal {
            Signal::Latency => 0,
            Signal::Errors => *errors,
            Signal::Volume => *calls,
        };
        let all = self.callers.iter();
        // Of equal ones the first by name, so that the same calls give the same.
        let most = all.max_by_key(|(name, counts)| (counted(counts), std::cmp::Reverse(*name)));
        most.map(|(principal, counts)| Caller {
            principal: principal.clone(),
            calls: counted(counts),
        })
        .filter(|caller| caller.calls > 0)
    }

    /// The signals that differ now and did not before in this window.
    fn changed(&mut self, rules: &AnomalyRules) -> Vec<(Signal, f64, f64, f64)> {
        if self.windows < MIN_WINDOWS || self.calls < rules.min_calls {
            return Vec::new();
        }
        let (latency, share, calls) = (
            self.mean_seconds(),
            self.error_share(),
            f64::from(self.calls),
        );
        let all = [
            (
                Signal::Latency,
                latency,
                self.latency,
                self.latency.mean * 0.1,
            ),
            // The standard deviation of a share of this many calls.
            (Signal::Errors, share, self.error_rate, 0.5 / calls.sqrt()),
            (Signal::Volume, calls, self.volume, self.volume.mean.sqrt()),
        ];
        let mut changed = Vec::new();
        for (signal, value, usual, floor) in all {
            let deviations = usual.deviations(value, floor.max(f64::EPSILON));
            let is_large = match signal {
                Signal::Errors => value > usual.mean + MIN_ERRORS,
                Signal::Latency | Signal::Volume => value > usual.mean * MIN_FACTOR,
            };
            if deviations >= rules.sensitivity && is_large && self.raised.insert(signal) {
                changed.push((signal, value, usual.mean, deviations));
            }
        }
        changed
    }
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct WatchedCall<'a> {
    /// `server:tool`
    pub tool: &'a str,
    pub principal: &'a str,
    pub took: Duration,
    pub is_failed: bool,
}

/// Watches all tools.
#[derive(Debug)]
pub struct Anomalies {
    rules: AnomalyRules,
    tools: Mutex<HashMap<String, Watched>>,
}

impl Anomalies {
    /// Watches with these rules.
    pub fn new(rules: AnomalyRules) -> Self {
        Self {
            rules,
            tools: Mutex::default(),
        }
    }

    /// A call has ended. Returns the changes that it made visible.
    pub fn call_ended(&self, call: &WatchedCall<'_>, now: Instant) -> Vec<Anomaly> {
        let mut tools = lock(&self.tools);
        if !tools.contains_key(call.tool) {
            if tools.len() >= MAX_TOOLS {
                return Vec::new();
            }
            tools.insert(call.tool.to_owned(), Watched::new(now));
        }
        let Some(watched) = tools.get_mut(call.tool) else {
            return Vec::new();
        };
        watched.roll(now, &self.rules);
        watched.count(call);
        let changed = watched.changed(&self.rules).into_iter();
        changed
            .map(|(signal, value, usual, deviations)| {
                let caller = watched.caller(signal);
                let suspends = self.rules.suspends;
                let suspends_caller =
                    caller.is_some() && matches!(suspends, Suspends::Principal | Suspends::Both);
                Anomaly {
                    tool: call.tool.to_owned(),
                    signal,
                    value,
                    usual,
                    deviations,
                    calls: watched.calls,
                    suspends_tool: match suspends {
                        Suspends::Nothing => false,
                        Suspends::Tool | Suspends::Both => true,
                        Suspends::Principal => !suspends_caller,
                    },
                    suspends_caller,
                    caller,
                }
            })
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_millis(10);

    /// Ends `calls` calls in each of `windows` windows from `from` on; every tenth one fails.
    fn usual_windows(
        anomalies: &Anomalies,
        from: Instant,
        windows: u32,
        calls: u32,
    ) -> Vec<Anomaly> {
        let mut found = Vec::new();
        for window in 0..windows {
            let now = from + Duration::from_secs(u64::from(window) * 60);
            for call in 0..calls {
                // It varies a little, as real times do.
                let took = USUAL + Duration::from_micros(u64::from((call * 7 + window) % 5) * 200);
                found.extend(anomalies.call_ended(&ended("ci", took, call % 10 == 0), now));
            }
        }
        found
    }

    fn ended(principal: &str, took: Duration, is_failed: bool) -> WatchedCall<'_> {
        WatchedCall {
            tool: "s:t",
            principal,
            took,
            is_failed,
        }
    }

    /// What further calls, of which two thirds are of `bot`, make visible after usual windows.
    fn after(anomalies: &Anomalies, calls: u32, took: Duration, fails: bool) -> Vec<Anomaly> {
        let from = Instant::now();
        let usual = usual_windows(anomalies, from, 10, 30);
        assert_eq!(usual, [], "nothing changed");
        let now = from + Duration::from_secs(600);
        let ends = (0..calls).flat_map(|call| {
            let is_failed = fails || call % 10 == 0;
            let principal = if call % 3 == 0 { "ci" } else { "bot" };
            anomalies.call_ended(&ended(principal, took, is_failed), now)
        });
        ends.collect()
    }

    #[test]
    fn each_sudden_change_is_raised_once_with_its_numbers() {
        let new = || Anomalies::new(AnomalyRules::default());
        assert_eq!(after(&new(), 30, USUAL, false), []);
        let slow = after(&new(), 30, Duration::from_millis(80), false);
        let [slow] = &slow[..] else {
            panic!("{slow:?}");
        };
        assert_eq!(slow.signal, Signal::Latency);
        assert!(
            (slow.usual - 0.0104).abs() < 0.001 && slow.value > 0.07,
            "{slow:?}"
        );
        assert!(
            slow.to_string().contains("take 0.080 s instead of 0.010 s"),
            "{slow}"
        );
        let failing = after(&new(), 30, USUAL, true);
        assert_eq!(failing.len(), 1, "{failing:?}");
        assert_eq!(failing[0].signal, Signal::Errors);
        let many = after(&new(), 200, USUAL, false);
        assert_eq!(many.len(), 1, "{many:?}");
        assert_eq!(many[0].signal, Signal::Volume);
    }

    #[test]
    fn the_principal_behind_a_change_is_named_with_its_calls() {
        let new = || Anomalies::new(AnomalyRules::default());
        let many = after(&new(), 200, USUAL, false);
        let caller = many[0].caller.as_ref().unwrap();
        assert_eq!(caller.principal, "bot");
        assert!(caller.calls > many[0].calls / 2, "{many:?}");
        let slow = after(&new(), 30, Duration::from_millis(80), false);
        assert_eq!(
            slow[0].caller, None,
            "a slow tool is not due to its callers"
        );
    }

    #[test]
    fn a_principal_behind_hundreds_of_others_is_named_too() {
        let anomalies = Anomalies::new(AnomalyRules::default());
        let from = Instant::now();
        assert_eq!(usual_windows(&anomalies, from, 10, 30), []);
        let now = from + Duration::from_secs(600);
        let others: Vec<String> = (0..300).map(|n| format!("other {n}")).collect();
        for other in &others {
            anomalies.call_ended(&ended(other, USUAL, false), now);
        }
        let fails = (0..700).flat_map(|_| anomalies.call_ended(&ended("bot", USUAL, true), now));
        let found: Vec<Anomaly> = fails.collect();
        let caller = found[0].caller.as_ref().unwrap();
        assert_eq!(caller.principal, "bot", "{found:?}");
    }

    #[test]
    fn the_tool_or_the_principal_is_withdrawn_only_if_the_operator_wants_that() {
        let found = |suspends, calls, took| {
            let rules = AnomalyRules {
                suspends,
                ..AnomalyRules::default()
            };
            let found = after(&Anomalies::new(rules), calls, took, false);
            (found[0].suspends_tool, found[0].suspends_caller)
        };
        let slow = Duration::from_millis(80);
        for (suspends, of_volume, of_latency) in [
            (Suspends::Nothing, (false, false), (false, false)),
            (Suspends::Tool, (true, false), (true, false)),
            (Suspends::Principal, (false, true), (true, false)),
            (Suspends::Both, (true, true), (true, false)),
        ] {
            assert_eq!(found(suspends, 200, USUAL), of_volume, "{suspends:?}");
            assert_eq!(found(suspends, 30, slow), of_latency, "{suspends:?}");
        }
    }
}
