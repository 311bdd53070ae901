//! Held-out observations: every past run as a model sees it that was made from the other runs.

use sha2::{Digest, Sha256};

use crate::confidence::Outcome;
use crate::features::{FEATURES, IntentView};
use crate::history::{END, History};
use crate::plan::{Evidence, decode};
use crate::prior::Parameters;
use crate::regression::{Choice, Prior, fit_choices, fit_logistic, softmax};
use crate::tool::Episode;
use crate::toolbox::{EncodedEpisode, Toolbox};

/// Parts of the runs; each is held out once.
const FOLDS: usize = 5;
/// Runs that are held out, at most: more make the numbers no better, only slower.
const MAX_HELD_OUT: usize = 800;
/// How many observations the prior is worth.
pub(crate) const STRENGTH: f64 = 4.0;
/// The power by which a similar intent outweighs a less similar one.
pub(crate) const SHARPNESS: f32 = 3.0;

/// A number from 0 to 1 that depends on the text alone.
#[must_use]
pub fn intent_hash(text: &str) -> f64 {
    let digest = Sha256::digest(text.as_bytes());
    let head = digest
        .iter()
        .take(6)
        .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    head as f64 / (1_u64 << 48) as f64
}

/// The choices of one held-out run.
struct HeldOut<'a> {
    fold: usize,
    episode: &'a Episode,
    encoded: &'a EncodedEpisode,
}

/// All choices of held-out runs, each with its fold.
pub(crate) struct Observations {
    pub choices: Vec<(usize, Choice<FEATURES>)>,
}

/// What was fitted, and what the held-out runs say of it.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub parameters: Parameters,
    /// The calibrated confidence of plans, and whether they were right.
    pub plans: Vec<Outcome>,
    pub steps: Vec<Outcome>,
    pub evidence: Vec<(Evidence, bool)>,
    pub top: Vec<([f32; 2], bool)>,
}

/// The runs in folds, with a history of the others for each fold.
pub(crate) struct CrossValidation<'a> {
    toolbox: &'a Toolbox,
    histories: Vec<History>,
    held_out: Vec<HeldOut<'a>>,
}

impl<'a> CrossValidation<'a> {
    pub fn new(
        toolbox: &'a Toolbox,
        episodes: &'a [Episode],
        encoded: &'a [EncodedEpisode],
    ) -> Self {
        let hash = |episode: &Episode| intent_hash(&format!("fold {}", episode.intent));
        let fold = |episode: &Episode| (hash(episode) * FOLDS as f64) as usize;
        let folds: Vec<usize> = episodes.iter().map(fold).collect();
        let histories = (0..FOLDS)
            .map(|held| {
                let others = encoded
                    .iter()
                    .zip(&folds)
                    .filter(|(_, fold)| **fold != held);
                History::new(
                    toolbox,
                    others.map(|(encoded, _)| encoded.clone()).collect(),
                )
            })
            .collect();
        let mut order: Vec<(f64, usize)> = episodes
            .iter()
            .enumerate()
            .filter(|(at, _)| !encoded[*at].tools.is_empty())
            .map(|(at, episode)| (intent_hash(&format!("order {}", episode.intent)), at))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(MAX_HELD_OUT);
        let held_out = order
            .into_iter()
            .map(|(_, at)| HeldOut {
                fold: folds[at],
                episode: &episodes[at],
                encoded: &encoded[at],
            })
            .collect();
        Self {
            toolbox,
            histories,
            held_out,
        }
    }

    fn view(&'a self, held_out: &HeldOut<'a>) -> IntentView<'a> {
        let history = &self.histories[held_out.fold];
        IntentView::new(self.toolbox, history, &held_out.episode.intent, SHARPNESS)
    }

    /// Every choice of the held-out runs, of which the right one is among the candidates.
    pub fn observe(&'a self) -> Observations {
        let mut choices = Vec::new();
        for held_out in &self.held_out {
            let view = self.view(held_out);
            let tools = &held_out.encoded.tools;
            for place in 0..=tools.len() {
                let next = tools.get(place).copied().unwrap_or(END);
                let candidates = view.rows(&tools[..place]);
                let Some(right) = candidates.iter().position(|(tool, _)| *tool == next) else {
                    continue;
                };
                let rows = candidates.into_iter().map(|(_, row)| row).collect();
                choices.push((
                    held_out.fold,
                    Choice {
                        rows,
                        right,
                        weight: 1.0,
                    },
                ));
            }
        }
        Observations { choices }
    }

    /// Fits the weights, and the confidence on what the other folds' weights say of each fold.
    pub fn fit(&'a self, prior: &Parameters) -> Fit {
        let mut observations = self.observe();
        let middle = Prior {
            middle: &prior.next,
            strength: STRENGTH,
        };
        let mut by_fold = Vec::new();
        for held in 0..FOLDS {
            for (fold, choice) in &mut observations.choices {
                choice.weight = f64::from(u8::from(*fold != held));
            }
            by_fold.push(fit_choices(
                observations.choices.iter().map(|(_, choice)| choice),
                &middle,
            ));
        }
        let next = {
            for (_, choice) in &mut observations.choices {
                choice.weight = 1.0;
            }
            fit_choices(
                observations.choices.iter().map(|(_, choice)| choice),
                &middle,
            )
        };
        let top = top_choices(&observations, &by_fold);
        let mut evidence = Vec::new();
        for held_out in &self.held_out {
            let view = self.view(held_out);
            if let Some(plan) = decode(&view, &by_fold[held_out.fold]) {
                evidence.push((
                    held_out.fold,
                    plan.evidence,
                    same_bag(&plan.tools, &held_out.encoded.tools),
                ));
            }
        }
        calibrate(prior, next, top, evidence)
    }
}

/// The likeliest candidate of each choice that is not an end, and whether it was right.
fn top_choices(
    observations: &Observations,
    by_fold: &[[f64; FEATURES]],
) -> Vec<(usize, [f32; 2], bool)> {
    observations
        .choices
        .iter()
        .filter(|(_, choice)| choice.right + 1 < choice.rows.len())
        .filter_map(|(fold, choice)| {
            let rows = &choice.rows[..choice.rows.len() - 1];
            let shares = softmax(&by_fold[*fold], rows);
            let best =
                (0..rows.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]).then(b.cmp(a)))?;
            Some((*fold, [1.0, logit(shares[best])], best == choice.right))
        })
        .collect()
}

pub(crate) fn logit(share: f64) -> f32 {
    let share = share.clamp(1e-5, 1.0 - 1e-5);
    (share / (1.0 - share)).ln() as f32
}

/// Whether two lists have the same tools equally often.
pub(crate) fn same_bag(a: &[u32], b: &[u32]) -> bool {
    let sorted = |tools: &[u32]| {
        let mut tools = tools.to_vec();
        tools.sort_unstable();
        tools
    };
    sorted(a) == sorted(b)
}

fn calibrate(
    prior: &Parameters,
    next: [f64; FEATURES],
    top: Vec<(usize, [f32; 2], bool)>,
    evidence: Vec<(usize, Evidence, bool)>,
) -> Fit {
    let (step, steps) = cross_fit(&top, &prior.step);
    let (plan, plans) = cross_fit(&evidence, &prior.plan);
    Fit {
        parameters: Parameters { next, step, plan },
        plans,
        steps,
        evidence: evidence
            .into_iter()
            .map(|(_, row, right)| (row, right))
            .collect(),
        top: top
            .into_iter()
            .map(|(_, row, right)| (row, right))
            .collect(),
    }
}

/// Fits a probability to all rows, and says for each row what the rows of the other folds make of it.
fn cross_fit<const N: usize>(
    rows: &[(usize, [f32; N], bool)],
    middle: &[f64; N],
) -> ([f64; N], Vec<Outcome>) {
    let prior = Prior {
        middle,
        strength: 2.0,
    };
    let all: Vec<_> = rows.iter().map(|(_, row, right)| (*row, *right)).collect();
    let mut outcomes = Vec::new();
    for held in 0..FOLDS {
        let others: Vec<_> = rows
            .iter()
            .filter(|row| row.0 != held)
            .map(|(_, row, right)| (*row, *right))
            .collect();
        let weights = fit_logistic(&others, &prior);
        for (_, row, right) in rows.iter().filter(|row| row.0 == held) {
            let confidence = crate::regression::logistic(crate::regression::dot(&weights, row));
            outcomes.push(Outcome {
                confidence,
                right: *right,
            });
        }
    }
    (fit_logistic(&all, &prior), outcomes)
}
