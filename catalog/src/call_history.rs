//! How calls of each tool went: their times and the sizes of their results, for estimates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the file format; a file with another version is ignored.
const VERSION: u32 = 1;
/// Tools of one configuration whose calls are kept.
const MAX_TOOLS: usize = 2_000;
/// Calls of one tool that count: what is new outweighs what is old.
const MAX_WEIGHT: f64 = 200.0;

/// The calls of one tool, as sums: of the logarithms of their times, which are closer to a normal
/// distribution than the times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CallTimes {
    /// Calls that their server answered.
    pub calls: u64,
    /// Calls that it did not answer.
    pub unanswered: u64,
    weight: f64,
    mean_ln: f64,
    /// The sum of the squares of the distances from the mean.
    m2: f64,
    mean_bytes: f64,
}

impl CallTimes {
    /// Adds a call that was answered.
    pub fn answered(&mut self, ms: f64, bytes: usize) {
        self.calls += 1;
        if self.weight >= MAX_WEIGHT {
            self.m2 *= (MAX_WEIGHT - 1.0) / self.weight;
            self.weight = MAX_WEIGHT - 1.0;
        }
        self.weight += 1.0;
        let ln = ms.max(0.001).ln();
        let before = ln - self.mean_ln;
        self.mean_ln += before / self.weight;
        self.m2 += before * (ln - self.mean_ln);
        self.mean_bytes += (bytes as f64 - self.mean_bytes) / self.weight;
    }

    /// Adds a call that was not answered.
    pub fn not_answered(&mut self) {
        self.unanswered += 1;
    }

    /// Half of the calls took at most this.
    pub fn median_ms(&self) -> f64 {
        self.mean_ln.exp()
    }

    /// The standard deviation of the logarithm of the times.
    pub fn spread(&self) -> f64 {
        match self.weight > 1.0 {
            true => (self.m2 / (self.weight - 1.0)).sqrt(),
            false => 0.5,
        }
    }

    /// The mean size of a result.
    pub fn bytes(&self) -> f64 {
        self.mean_bytes
    }

    fn merge(&mut self, other: &Self) {
        let weight = self.weight + other.weight;
        if weight > 0.0 {
            let (share, distance) = (other.weight / weight, other.mean_ln - self.mean_ln);
            self.m2 += other.m2 + distance * distance * self.weight * share;
            self.mean_ln += distance * share;
            self.mean_bytes += (other.mean_bytes - self.mean_bytes) * share;
            self.weight = weight;
            if weight > MAX_WEIGHT {
                self.m2 *= MAX_WEIGHT / weight;
                self.weight = MAX_WEIGHT;
            }
        }
        self.calls += other.calls;
        self.unanswered += other.unanswered;
    }
}

/// The calls seen so far, by tool id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallHistory {
    version: u32,
    tools: BTreeMap<String, CallTimes>,
}

impl CallHistory {
    /// The calls of a tool, to be added to; `None` if too many tools are known.
    pub fn of(&mut self, tool: &str) -> Option<&mut CallTimes> {
        if !self.tools.contains_key(tool) {
            if self.tools.len() >= MAX_TOOLS {
                return None;
            }
            self.tools.insert(tool.to_owned(), CallTimes::default());
        }
        self.tools.get_mut(tool)
    }

    /// The calls of a tool so far.
    pub fn get(&self, tool: &str) -> Option<&CallTimes> {
        self.tools.get(tool)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Adds the calls of another history.
    pub fn merge(&mut self, other: &Self) {
        for (tool, times) in &other.tools {
            if let Some(known) = self.of(tool) {
                known.merge(times);
            }
        }
    }

    /// Parses a file; a damaged one reads as empty.
    pub fn parse(text: &str) -> Self {
        let read = serde_json::from_str::<Self>(text).ok();
        read.filter(|history| history.version == VERSION)
            .unwrap_or_default()
    }

    /// The contents of the file.
    pub(crate) fn text(&self) -> String {
        let history = Self {
            version: VERSION,
            ..self.clone()
        };
        // Numbers by name always become JSON.
        serde_json::to_string(&history).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[f64]) -> CallTimes {
        let mut calls = CallTimes::default();
        for ms in times {
            calls.answered(*ms, 100);
        }
        calls
    }

    #[test]
    fn parts_give_what_the_whole_gives() {
        let whole = of(&[10.0, 20.0, 40.0, 80.0]);
        let mut parts = of(&[10.0, 80.0]);
        parts.merge(&of(&[20.0, 40.0]));
        assert!((whole.median_ms() - 28.284).abs() < 0.01);
        assert!((whole.median_ms() - parts.median_ms()).abs() < 1e-9);
        assert!((whole.spread() - parts.spread()).abs() < 1e-9);
        assert_eq!((parts.calls, parts.bytes()), (4, 100.0));
    }

    #[test]
    fn new_times_outweigh_old_ones() {
        let mut times = of(&[10.0; 1_000]);
        for _ in 0..400 {
            times.answered(1_000.0, 100);
        }
        assert!(times.median_ms() > 500.0, "{}", times.median_ms());
        assert_eq!(times.calls, 1_400);
    }

    #[test]
    fn a_written_history_is_read_again_and_a_damaged_one_is_empty() {
        let mut history = CallHistory::default();
        history.of("a:b").unwrap().answered(5.0, 10);
        let read = CallHistory::parse(&history.text());
        assert_eq!(read.get("a:b"), history.get("a:b"));
        assert!(CallHistory::parse("{").is_empty());
        assert!(CallHistory::parse(r#"{"version":9,"tools":{}}"#).is_empty());
    }
}
