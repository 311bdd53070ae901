//! A sudden change of a tool, and when a change counts as one.

use std::fmt;
use std::time::Duration;

/// When a change counts as sudden, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnomalyRules {
    /// The length of a window.
    pub window: Duration,
    /// Calls in a window before it is compared.
    pub min_calls: u32,
    /// Standard deviations.
    pub sensitivity: f64,
    /// What is to be withdrawn then.
    pub suspends: Suspends,
}

/// What a sudden change withdraws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Suspends {
    /// Nothing: it is reported.
    #[default]
    Nothing,
    /// The tool.
    Tool,
    /// The principal that made most of the calls of the window, or most of those that failed. If no
    /// principal stands out, because it is the latency that changed, the tool.
    Principal,
    /// The tool and the principal.
    Both,
}

impl Default for AnomalyRules {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            min_calls: 20,
            sensitivity: 4.0,
            suspends: Suspends::Nothing,
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
    /// Who made most of the calls, or of those that failed; `None` for the latency.
    pub caller: Option<Caller>,
    /// Whether the tool is to be withdrawn.
    pub suspends_tool: bool,
    /// Whether the caller is to be withdrawn.
    pub suspends_caller: bool,
}

/// A principal, and its part in a sudden change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Its name.
    pub principal: String,
    /// Its calls of the window; where the error rate changed, those that failed.
    pub calls: u32,
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
