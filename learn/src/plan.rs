//! From an intent to the most useful plan: a beam search over next tools, and the plan that is expected
//! to have most in common with what will happen.

use crate::features::{FEATURES, IntentView};
use crate::history::END;
use crate::regression::softmax;

/// Plans that are looked at side by side.
const BEAM: usize = 8;
/// Continuations of one plan.
const BRANCHES: usize = 5;
/// The longest plan without past runs.
const COLD_LENGTH: usize = 5;
/// The longest plan at all.
const MAX_LENGTH: usize = 24;
/// What an edge between neighbours is worth without past runs, and one between others.
const COLD_EDGES: (f32, f32) = (0.5, 0.05);
/// The share of pairs from which on an edge is suggested.
const EDGE_THRESHOLD: f32 = 0.5;

/// One order of tools with its probability.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub tools: Vec<u32>,
    pub log_probability: f64,
    /// The probability of its least likely step.
    pub weakest: f64,
}

/// A plan and how sure the model is of it.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub tools: Vec<u32>,
    pub edges: Vec<(usize, usize)>,
    /// The numbers that [`crate::confidence`] makes a probability of.
    pub evidence: Evidence,
}

/// What speaks for a plan: one, then its logit, …
pub(crate) type Evidence = [f32; EVIDENCE];
pub(crate) const EVIDENCE: usize = 7;

/// The sequences that a beam search finds, best first.
fn search(view: &IntentView<'_>, weights: &[f64; FEATURES]) -> Vec<Sequence> {
    let longest = match view.history.longest {
        0 => COLD_LENGTH,
        longest => longest.min(MAX_LENGTH),
    };
    let mut open = vec![Sequence {
        tools: Vec::new(),
        log_probability: 0.0,
        weakest: 1.0,
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
                next.weakest = next.weakest.min(shares[at]);
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
        grown.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
        grown.truncate(BEAM);
        ended.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
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

/// The plan with the greatest expected overlap, or none without tools.
pub(crate) fn decode(view: &IntentView<'_>, weights: &[f64; FEATURES]) -> Option<Decoded> {
    let sequences = search(view, weights);
    let probability = |sequence: &Sequence| sequence.log_probability.exp();
    let bags: Vec<Vec<u32>> = sequences
        .iter()
        .map(|sequence| sorted(&sequence.tools))
        .collect();
    let mut best: Option<(f64, usize)> = None;
    for (at, bag) in bags.iter().enumerate() {
        let expected: f64 = sequences
            .iter()
            .zip(&bags)
            .map(|(other, tools)| probability(other) * overlap(bag, tools))
            .sum();
        if best.is_none_or(|(value, _)| expected > value + 1e-12) {
            best = Some((expected, at));
        }
    }
    let (expected, at) = best?;
    let chosen = &sequences[at];
    let mass: f64 = sequences.iter().map(probability).sum();
    let same: f64 = sequences
        .iter()
        .zip(&bags)
        .filter(|(_, bag)| **bag == bags[at])
        .map(|(sequence, _)| probability(sequence))
        .sum();
    let mut agreement = 0.0;
    for (neighbour, weight) in view.weighted() {
        let tools = &view.history.episodes[neighbour.episode as usize].tools;
        if sorted(tools) == bags[at] {
            agreement += weight;
        }
    }
    let logit = |share: f64| {
        (share.clamp(1e-4, 1.0 - 1e-4) / (1.0 - share.clamp(1e-4, 1.0 - 1e-4))).ln() as f32
    };
    let evidence = [
        1.0,
        logit(same),
        logit(chosen.weakest),
        logit(expected / mass.max(1e-9)),
        view.nearest(),
        agreement,
        (chosen.tools.len() as f32).ln(),
    ];
    Some(Decoded {
        edges: edges(view, &chosen.tools),
        tools: chosen.tools.clone(),
        evidence,
    })
}

fn sorted(tools: &[u32]) -> Vec<u32> {
    let mut sorted = tools.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The F1 of two sorted bags.
fn overlap(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    2.0 * f64::from(shared) / (a.len() + b.len()).max(1) as f64
}

/// Which calls of a plan need which, as past runs had it and the schemas allow.
fn edges(view: &IntentView<'_>, tools: &[u32]) -> Vec<(usize, usize)> {
    let history = view.history;
    let mut edges = Vec::new();
    for later in 0..tools.len() {
        for earlier in 0..later {
            let direct = later == earlier + 1;
            let (shape, cold) = if direct {
                (history.adjacent, COLD_EDGES.0)
            } else {
                (history.distant, COLD_EDGES.1)
            };
            let link = view.toolbox.link(tools[earlier], tools[later]);
            let general = (shape.edges + 4.0 * cold.max(link)) / (shape.pairs + 4.0);
            let pair = history.pair(tools[earlier], tools[later], direct);
            if (pair.edges + 2.0 * general) / (pair.pairs + 2.0) >= EDGE_THRESHOLD {
                edges.push((earlier, later));
            }
        }
    }
    edges
}
