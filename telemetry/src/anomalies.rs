//! Sudden changes of a tool: of its latency, its errors, or how often it is called.
//!
//! Time is divided into windows. What is usual is the mean and the variance of the earlier windows, of which
//! later ones count more. A window whose mean deviates by more than a number of standard deviations is an
//! anomaly, once per window and signal.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Windows before anything is compared.
const MIN_WINDOWS: u32 = 5;
/// How much a new window counts in what is usual.
const WEIGHT: f64 = 0.2;
/// Tools that are watched, at most.
const MAX_TOOLS: usize = 1_000;
/// Latency and call volume must be this many times the usual one.
const MIN_FACTOR: f64 = 2.0;
/// The error rate must be higher than usual by this much.
const MIN_ERRORS: f64 = 0.2;

/// When a change counts as sudden, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnomalyRules {
    /// The length of a window.
    pub window: Duration,
    /// Calls in a window before it is compared.
    pub min_calls: u32,
    /// Standard deviations.
    pub sensitivity: f64,
    /// Whether the tool is withdrawn until the server is started again.
    pub suspends: bool,
}

impl Default for AnomalyRules {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            min_calls: 20,
            sensitivity: 4.0,
            suspends: false,
        }
    }
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// The mean time of a call, in seconds.
    Latency,
    /// The share of calls that fail.
    Errors,
    /// Calls in a window.
    Volume,
}

impl Signal {
    /// Its name in events and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Errors => "errors",
            Self::Volume => "volume",
        }
    }
}

/// A sudden change, with the numbers that explain it.
#[derive(Debug, Clone, PartialEq)]
pub struct Anomaly {
    /// `server:tool`
    pub tool: String,
    /// What changed.
    pub signal: Signal,
    /// Its value in this window.
    pub value: f64,
    /// Its usual value.
    pub usual: f64,
    /// By how many standard deviations it differs.
    pub deviations: f64,
    /// Calls of the window so far.
    pub calls: u32,
    /// Whether the tool is withdrawn.
    pub is_suspended: bool,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            value,
            usual,
            deviations,
            calls,
            ..
        } = self;
        match self.signal {
            Signal::Latency => write!(
                f,
                "calls of `{tool}` take {value:.3} s instead of {usual:.3} s"
            ),
            Signal::Errors => write!(
                f,
                "{:.0} % of the calls of `{tool}` fail instead of {:.0} %",
                value * 100.0,
                usual * 100.0
            ),
            Signal::Volume => write!(
                f,
                "`{tool}` is called {value:.0} times instead of {usual:.0}"
            ),
        }?;
        write!(
            f,
            " ({deviations:.1} standard deviations, {calls} calls in this window)"
        )
    }
}

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
        self.raised.clear();
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

/// Watches all tools.
#[derive(Debug)]
pub struct Anomalies {
    rules: AnomalyRules,
    tools: Mutex<HashMap<String, Watched>>,
    suspended: Mutex<HashMap<String, String>>,
}

impl Anomalies {
    /// Watches with these rules.
    pub fn new(rules: AnomalyRules) -> Self {
        Self {
            rules,
            tools: Mutex::default(),
            suspended: Mutex::default(),
        }
    }

    /// A call has ended. Returns the changes that it made visible.
    pub fn call_ended(
        &self,
        tool: &str,
        took: Duration,
        is_failed: bool,
        now: Instant,
    ) -> Vec<Anomaly> {
        let mut tools = lock(&self.tools);
        if !tools.contains_key(tool) {
            if tools.len() >= MAX_TOOLS {
                return Vec::new();
            }
            tools.insert(tool.to_owned(), Watched::new(now));
        }
        let Some(watched) = tools.get_mut(tool) else {
            return Vec::new();
        };
        watched.roll(now, &self.rules);
        watched.calls += 1;
        watched.errors += u32::from(is_failed);
        watched.seconds += took.as_secs_f64();
        let changed = watched.changed(&self.rules).into_iter();
        let found: Vec<Anomaly> = changed
            .map(|(signal, value, usual, deviations)| Anomaly {
                tool: tool.to_owned(),
                signal,
                value,
                usual,
                deviations,
                calls: watched.calls,
                is_suspended: self.rules.suspends,
            })
            .collect();
        if let (true, Some(first)) = (self.rules.suspends, found.first()) {
            lock(&self.suspended).insert(tool.to_owned(), first.to_string());
        }
        found
    }

    /// Why a tool is withdrawn; `None` if it is not.
    pub fn suspended(&self, tool: &str) -> Option<String> {
        lock(&self.suspended).get(tool).cloned()
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
                found.extend(anomalies.call_ended("s:t", took, call % 10 == 0, now));
            }
        }
        found
    }

    fn after(anomalies: &Anomalies, calls: u32, took: Duration, fails: bool) -> Vec<Anomaly> {
        let from = Instant::now();
        let usual = usual_windows(anomalies, from, 10, 30);
        assert_eq!(usual, [], "nothing changed");
        let now = from + Duration::from_secs(600);
        let ends = (0..calls).flat_map(|call| {
            let is_failed = fails || call % 10 == 0;
            anomalies.call_ended("s:t", took, is_failed, now)
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
    fn a_tool_is_withdrawn_only_if_the_operator_wants_that() {
        let watching = Anomalies::new(AnomalyRules::default());
        after(&watching, 30, USUAL, true);
        assert_eq!(watching.suspended("s:t"), None);
        let suspends = true;
        let rules = AnomalyRules {
            suspends,
            ..AnomalyRules::default()
        };
        let suspending = Anomalies::new(rules);
        after(&suspending, 30, USUAL, true);
        assert!(suspending.suspended("s:t").is_some());
        assert_eq!(suspending.suspended("s:other"), None);
    }
}
