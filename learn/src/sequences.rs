//! Orders of tools and their probabilities: a beam search over the model of the next tool.

use crate::features::{FEATURES, IntentView};
use crate::history::END;
use crate::regression::softmax;

/// Orders that are looked at side by side.
const BEAM: usize = 8;
/// Continuations of one order.
const BRANCHES: usize = 5;
/// The longest plan without past runs.
const COLD_LENGTH: usize = 5;
/// The longest plan at all.
const MAX_LENGTH: usize = 24;

/// One order of tools with its probability.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub tools: Vec<u32>,
    pub log_probability: f64,
}

/// The orders that a beam search finds, best first.
pub(crate) fn search(view: &IntentView<'_>, weights: &[f64; FEATURES]) -> Vec<Sequence> {
    let longest = match view.history.longest {
        0 => COLD_LENGTH,
        longest => longest.min(MAX_LENGTH),
    };
    let mut open = vec![Sequence {
        tools: Vec::new(),
        log_probability: 0.0,
    }];
    let mut ended: Vec<Sequence> = Vec::new();
    for length in 0..=longest {
        let mut grown = Vec::new();
        for sequence in &open {
            let candidates = view.rows(&sequence.tools);
            let rows: Vec<_> = candidates.iter().map(|(_, row)| *row).collect();
            let shares = softmax(weights, &rows);
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_unstable_by(|a, b| shares[*b].total_cmp(&shares[*a]).then(a.cmp(b)));
            for at in order.into_iter().take(BRANCHES) {
                let mut next = sequence.clone();
                next.log_probability += shares[at].max(1e-12).ln();
                match candidates[at].0 {
                    END if length == 0 => {}
                    END => ended.push(next),
                    _ if length == longest => {}
                    tool => {
                        next.tools.push(tool);
                        grown.push(next);
                    }
                }
            }
        }
        let by_probability =
            |a: &Sequence, b: &Sequence| b.log_probability.total_cmp(&a.log_probability);
        grown.sort_by(by_probability);
        grown.truncate(BEAM);
        ended.sort_by(by_probability);
        ended.truncate(2 * BEAM);
        let worst = ended
            .get(BEAM)
            .map_or(f64::NEG_INFINITY, |ended| ended.log_probability);
        grown.retain(|sequence| sequence.log_probability > worst);
        open = grown;
        if open.is_empty() {
            break;
        }
    }
    ended
}

/// The logarithm of the probability of exactly this order.
pub(crate) fn log_probability(
    view: &IntentView<'_>,
    weights: &[f64; FEATURES],
    tools: &[u32],
) -> f64 {
    let mut sum = 0.0;
    for place in 0..=tools.len().min(MAX_LENGTH) {
        let next = tools.get(place).copied().unwrap_or(END);
        let candidates = view.rows(&tools[..place]);
        let rows: Vec<_> = candidates.iter().map(|(_, row)| *row).collect();
        let shares = softmax(weights, &rows);
        let right = candidates.iter().position(|(tool, _)| *tool == next);
        sum += right.map_or(1e-6, |at| shares[at].max(1e-12)).ln();
    }
    sum
}
