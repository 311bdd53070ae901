//! The metrics of a process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::call_end::{CallEnd, Speculated};
use crate::conventions::TOOLS_CALL;
use crate::families::{self, Family};
use crate::series::{OTHER, Series};

/// A value as it is when it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// The name of OpenTelemetry, such as `pml.workers`.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Whether it only grows.
    pub is_counter: bool,
    /// The names and values of its labels.
    pub labels: Vec<(&'static str, String)>,
    /// Its value.
    pub value: f64,
}

/// Reads values that are kept elsewhere.
type Observer = Arc<dyn Fn() -> Vec<Gauge> + Send + Sync>;

/// The metrics of a process. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    families: [Mutex<Series>; families::ALL.len()],
    observers: Mutex<Vec<Observer>>,
    max_tools: usize,
    started: SystemTime,
}

impl Metrics {
    /// Metrics in which at most `max_tools` series of each family name their tool; the others are `other`.
    pub fn new(max_tools: usize) -> Self {
        Self(Arc::new(Inner {
            families: std::array::from_fn(|_| Mutex::default()),
            observers: Mutex::default(),
            max_tools,
            started: SystemTime::now(),
        }))
    }

    /// Adds values that are read when the metrics are.
    pub fn observe(&self, observer: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) {
        lock(&self.0.observers).push(Arc::new(observer));
    }

    /// A request to a server has ended.
    pub fn call_ended(&self, end: &CallEnd<'_>) {
        let outcome = match end.error {
            Some(error) => error,
            None if end.is_cached => "cached",
            None if end.speculation == Speculated::Taken => "speculated",
            None => "ok",
        };
        // Names of tools that do not exist are whatever a script writes.
        let tool = match outcome {
            "unknown" => OTHER,
            _ => end.tool,
        };
        self.add(&families::CALLS, &[tool, outcome], 1.0);
        if end.attempts > 1 {
            let server = end.tool.split(':').next().unwrap_or_default();
            self.add(&families::RETRIES, &[server], f64::from(end.attempts - 1));
        }
        if end.attempts > 0 {
            let labels = [
                end.method,
                end.tool,
                end.transport.unwrap_or_default(),
                end.error.unwrap_or_default(),
            ];
            self.add(&families::CLIENT_DURATION, &labels, end.took.as_secs_f64());
        }
        match end.speculation {
            Speculated::No => {}
            Speculated::Ahead => self.add(&families::SPECULATED, &["ahead"], 1.0),
            Speculated::Taken => self.add(&families::SPECULATED, &["taken"], 1.0),
        }
        if let Some(cost) = end.cost {
            self.add(&families::COSTS, &[tool], cost);
        }
        for (guard, verdict) in end.guards {
            self.add(&families::GUARDS, &[guard, verdict], 1.0);
        }
        if !end.slot_wait.is_zero() {
            self.waited("slot", end.slot_wait);
        }
        if let Some(waited) = end.person_wait {
            self.waited("person", waited);
        }
    }

    /// A call of one of our tools has ended.
    pub fn operation_ended(
        &self,
        tool: &str,
        transport: &'static str,
        error: Option<&'static str>,
        took: Duration,
    ) {
        let labels = [TOOLS_CALL, tool, transport, error.unwrap_or_default()];
        self.add(&families::SERVER_DURATION, &labels, took.as_secs_f64());
    }

    /// A run has ended; `outcome` is `ok` or the kind of its error.
    pub fn run_ended(&self, outcome: &str, took: Duration) {
        self.add(&families::RUNS, &[outcome], took.as_secs_f64());
    }

    /// Something waited for a worker, a slot or a person.
    pub fn waited(&self, what: &str, time: Duration) {
        self.add(&families::WAITS, &[what], time.as_secs_f64());
    }

    /// Scrubbing replaced values of a kind.
    pub fn redacted(&self, kind: &str, count: u64) {
        self.add(&families::REDACTIONS, &[kind], count as f64);
    }

    /// A tool changed suddenly.
    pub fn anomaly(&self, tool: &str, signal: &str) {
        self.add(&families::ANOMALIES, &[tool, signal], 1.0);
    }

    /// The text that Prometheus reads.
    pub fn prometheus(&self) -> String {
        crate::prometheus::text(self)
    }

    /// Since when is counted.
    pub(crate) fn started(&self) -> SystemTime {
        self.0.started
    }

    /// Every family with its values. A family is locked while `read` has it.
    pub(crate) fn each(&self, mut read: impl FnMut(&'static Family, &Series)) {
        for (family, series) in families::ALL.iter().zip(&self.0.families) {
            read(family, &lock(series));
        }
    }

    /// The values that are kept elsewhere.
    pub(crate) fn observed(&self) -> Vec<Gauge> {
        let observers = lock(&self.0.observers).clone();
        let mut gauges: Vec<Gauge> = observers.iter().flat_map(|observer| observer()).collect();
        gauges.sort_by_key(|gauge| gauge.name);
        gauges
    }

    fn add(&self, family: &'static Family, labels: &[&str], value: f64) {
        let index = families::ALL
            .iter()
            .position(|known| std::ptr::eq(*known, family));
        if let Some(series) = index.and_then(|index| self.0.families.get(index)) {
            lock(series).add(family, labels, value, self.0.max_tools);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
