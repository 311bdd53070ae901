//! Probabilities that mean what they say: calibration on held-out runs, its error, and thresholds.

use serde::{Deserialize, Serialize};

/// How many runs a bin of the calibration error has, at least.
const LEAST_BIN: usize = 50;
/// Bins at most.
const MAX_BINS: usize = 10;
/// Thresholds that are tried.
const MAX_LEVELS: usize = 400;

/// A predicted probability and what happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub confidence: f64,
    pub right: bool,
}

/// The expected calibration error: the difference of mean confidence and share of right predictions, over
/// bins with equally many predictions. `None` without predictions.
#[must_use]
pub fn calibration_error(outcomes: &[Outcome]) -> Option<f64> {
    if outcomes.is_empty() {
        return None;
    }
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let bins = (sorted.len() / LEAST_BIN).clamp(1, MAX_BINS);
    let mut error = 0.0;
    let mut start = 0;
    for bin in 1..=bins {
        // Predictions with the same confidence are in one bin.
        let mut end = (sorted.len() * bin / bins).max(start);
        while end > 0 && end < sorted.len() && sorted[end].confidence == sorted[end - 1].confidence
        {
            end += 1;
        }
        let part = &sorted[start..end];
        let said: f64 = part.iter().map(|outcome| outcome.confidence).sum();
        let was = part.iter().filter(|outcome| outcome.right).count() as f64;
        error += (said - was).abs();
        start = end;
    }
    Some(error / sorted.len() as f64)
}

/// The lower end of the Wilson interval of a share, 95 % one-sided.
#[must_use]
pub fn lower_bound(right: usize, total: usize) -> f64 {
    if total == 0 {
        return 0.0;
    }
    let (z, n) = (1.645_f64, total as f64);
    let share = right as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle - spread) / (1.0 + z * z / n)).max(0.0)
}

/// The confidence in the surest task of a suggestion, in the two surest together, and so on, and whether
/// all of them were called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SubsetOutcomes(pub Vec<Outcome>);

impl SubsetOutcomes {
    /// Groups outcomes by their run; those of one run follow each other.
    pub(crate) fn by_run(outcomes: Vec<(usize, Outcome)>) -> Vec<Self> {
        let mut runs: Vec<(usize, Self)> = Vec::new();
        for (run, outcome) in outcomes {
            match runs.last_mut() {
                Some((last, subsets)) if *last == run => subsets.push(outcome),
                _ => {
                    let mut subsets = Self::default();
                    subsets.push(outcome);
                    runs.push((run, subsets));
                }
            }
        }
        runs.into_iter().map(|(_, subsets)| subsets).collect()
    }

    /// More tasks are never surer than fewer.
    fn push(&mut self, mut outcome: Outcome) {
        if let Some(last) = self.0.last() {
            outcome.confidence = outcome.confidence.min(last.confidence);
        }
        self.0.push(outcome);
    }

    /// The outcome of as many tasks as reach a confidence.
    fn largest(&self, least: f64) -> Option<&Outcome> {
        self.0
            .iter()
            .take_while(|outcome| outcome.confidence >= least)
            .last()
    }
}

/// The least confidence with which the tasks that reach it were all called in at least `precision` of the
/// held-out runs, with 95 % certainty. `None` if there is none: too few runs, or too hard a task.
///
/// Where even the least sure predictions were right that often, a prediction that is less sure than all of
/// them may be trusted as far as its calibrated confidence says so.
#[must_use]
pub fn threshold(runs: &[SubsetOutcomes], precision: f64) -> Option<f64> {
    let mut levels: Vec<f64> = runs
        .iter()
        .flat_map(|run| &run.0)
        .map(|outcome| outcome.confidence)
        .collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let step = levels.len().div_ceil(MAX_LEVELS).max(1);
    let reaches = |level: &f64| {
        let chosen: Vec<&Outcome> = runs.iter().filter_map(|run| run.largest(*level)).collect();
        let right = chosen.iter().filter(|outcome| outcome.right).count();
        lower_bound(right, chosen.len()) >= precision
    };
    let lowest = levels.first().copied();
    let found = levels.into_iter().step_by(step).find(reaches)?;
    Some(if Some(found) == lowest {
        found.min(precision)
    } else {
        found
    })
}
