//! Probabilities that mean what they say: calibration on held-out runs, its error, and thresholds.

use serde::{Deserialize, Serialize};

/// How many runs a bin of the calibration error has, at least.
const LEAST_BIN: usize = 20;
/// Bins at most.
const MAX_BINS: usize = 10;

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
    for bin in 0..bins {
        let part = &sorted[sorted.len() * bin / bins..sorted.len() * (bin + 1) / bins];
        let said: f64 = part.iter().map(|outcome| outcome.confidence).sum();
        let was = part.iter().filter(|outcome| outcome.right).count() as f64;
        error += (said - was).abs();
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

/// The least confidence from which on at least `precision` of held-out predictions were right, with 95 %
/// certainty. `None` if no threshold reaches it: too few runs, or too hard a task.
#[must_use]
pub fn threshold(outcomes: &[Outcome], precision: f64) -> Option<f64> {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut right = 0;
    let mut found = None;
    for (at, outcome) in sorted.iter().enumerate() {
        right += usize::from(outcome.right);
        let tied = sorted
            .get(at + 1)
            .is_some_and(|next| next.confidence >= outcome.confidence);
        if !tied && lower_bound(right, at + 1) >= precision {
            found = Some(outcome.confidence);
        }
    }
    found
}
