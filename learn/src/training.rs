//! Fitting on held-out runs: each past run as a model sees it that was made from the other runs.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::confidence::{Outcome, SubsetOutcomes};
use crate::features::{FEATURES, IntentView};
use crate::history::{END, History};
use crate::plan::{
    Candidate, Decoded, EVIDENCE, PLAN_FEATURES, candidates, contains, decode, overlap, sorted,
};
use crate::prior::Parameters;
use crate::regression::{Choice, Prior, dot, fit_choices, fit_logistic, logistic, softmax};
use crate::tool::Episode;
use crate::toolbox::{EncodedEpisode, Toolbox};

/// Parts of the runs; each is held out once. Few runs are cut into more parts: a model of nine tenths of
/// them is clearly worse than one of all.
const FOLDS: usize = 10;
const FOLDS_OF_FEW: usize = 25;
/// Runs that are few.
const FEW: usize = 300;
/// Groups of folds that share the weights of the others: a few dozen numbers hardly depend on one fold.
const WEIGHT_GROUPS: usize = 3;
/// Runs that are held out, at most: more make the numbers hardly better, only slower.
const MAX_HELD_OUT: usize = 600;
/// The place of a tool that is not among the candidates.
const MISSED: usize = usize::MAX - 1;
/// Choices of next tools that weights are fitted to, at most.
const MAX_CHOICES: usize = 2500;
/// How many observations the prior of the choices is worth.
pub(crate) const STRENGTH: f64 = 4.0;
/// The same for probabilities of yes and no.
const CALIBRATION_STRENGTH: f64 = 4.0;
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

/// A yes or no of one fold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<const N: usize> {
    pub fold: usize,
    /// The run that it is of.
    pub run: usize,
    pub row: [f32; N],
    pub yes: bool,
}

/// Everything that held-out runs say.
#[derive(Default)]
pub(crate) struct Observations {
    pub next: Vec<(usize, Choice<FEATURES>)>,
    pub plan: Vec<(usize, Choice<PLAN_FEATURES>)>,
    pub step: Vec<Answer<2>>,
    pub task: Vec<Answer<2>>,
    pub exact: Vec<Answer<EVIDENCE>>,
    pub ahead: Vec<Answer<EVIDENCE>>,
}

/// What was fitted, and what the held-out runs say of it.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub parameters: Parameters,
    /// The confidence that a plan is right, and whether it was.
    pub exact: Vec<Outcome>,
    pub steps: Vec<Outcome>,
    pub tasks: Vec<Outcome>,
    /// For each run, the confidence in its surest tasks.
    pub ahead: Vec<SubsetOutcomes>,
}

struct HeldOut<'a> {
    fold: usize,
    episode: &'a Episode,
    encoded: &'a EncodedEpisode,
}

/// The runs in folds, with a history of the others for each fold.
pub(crate) struct CrossValidation<'a> {
    toolbox: &'a Toolbox,
    folds: usize,
    histories: Vec<History>,
    held_out: Vec<HeldOut<'a>>,
}

impl<'a> CrossValidation<'a> {
    pub fn new(
        toolbox: &'a Toolbox,
        episodes: &'a [Episode],
        encoded: &'a [EncodedEpisode],
    ) -> Self {
        let count = if episodes.len() < FEW {
            FOLDS_OF_FEW
        } else {
            FOLDS
        };
        // Runs repeat: two with the same intent may be in different folds, as a new run may have the intent
        // of an old one.
        let mut occurrences: HashMap<&str, usize> = HashMap::new();
        let mut fold = |episode: &'a Episode| {
            let occurrence = occurrences.entry(&episode.intent).or_default();
            *occurrence += 1;
            let hash = intent_hash(&format!("fold {occurrence} {}", episode.intent));
            (hash * count as f64) as usize
        };
        let folds: Vec<usize> = episodes.iter().map(&mut fold).collect();
        let histories = (0..count)
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
            folds: count,
            histories,
            held_out,
        }
    }

    fn view(&'a self, held_out: &HeldOut<'a>) -> IntentView<'a> {
        let history = &self.histories[held_out.fold];
        IntentView::new(self.toolbox, history, &held_out.episode.intent, SHARPNESS)
    }

    /// Fits everything, each probability on what the weights of other folds say of each fold.
    pub fn fit(&'a self, prior: &Parameters) -> Fit {
        self.observe(prior).1
    }

    /// What [`Self::fit`] saw as well.
    pub fn observe(&'a self, prior: &Parameters) -> (Observations, Fit) {
        let mut seen = Observations {
            next: self.next_choices(),
            ..Observations::default()
        };
        let (next, next_by_fold) = cross_fit_choices(&seen.next, &prior.next, self.folds);
        seen.step = top_choices(&seen.next, &next_by_fold);
        let mut plans = Vec::new();
        for held_out in &self.held_out {
            let view = self.view(held_out);
            let found = candidates(&view, &next_by_fold[held_out.fold]);
            seen.plan
                .extend(plan_choice(&found, held_out).map(|choice| (held_out.fold, choice)));
            plans.push(found);
        }
        let (plan, plan_by_fold) = cross_fit_choices(&seen.plan, &prior.plan, self.folds);
        for (run, (held_out, found)) in self.held_out.iter().zip(&plans).enumerate() {
            let view = self.view(held_out);
            if let Some(decoded) = decode(&view, found, &plan_by_fold[held_out.fold]) {
                seen.answer(run, held_out, &decoded);
            }
        }
        let (step, steps) = cross_fit(&seen.step, &prior.step, self.folds);
        let (task, tasks) = cross_fit(&seen.task, &prior.task, self.folds);
        let (exact, exacts) = cross_fit(&seen.exact, &prior.exact, self.folds);
        let (ahead, aheads) = cross_fit(&seen.ahead, &prior.ahead, self.folds);
        let outcomes = |found: Vec<(usize, Outcome)>| found.into_iter().map(|(_, of)| of).collect();
        let parameters = Parameters {
            next,
            plan,
            step,
            task,
            exact,
            ahead,
        };
        let fit = Fit {
            parameters,
            exact: outcomes(exacts),
            steps: outcomes(steps),
            tasks: outcomes(tasks),
            ahead: SubsetOutcomes::by_run(aheads),
        };
        (seen, fit)
    }

    /// Every choice of the held-out runs.
    fn next_choices(&'a self) -> Vec<(usize, Choice<FEATURES>)> {
        let mut choices = Vec::new();
        for held_out in &self.held_out {
            if choices.len() >= MAX_CHOICES {
                break;
            }
            let view = self.view(held_out);
            let tools = &held_out.encoded.tools;
            for place in 0..=tools.len() {
                let next = tools.get(place).copied().unwrap_or(END);
                let candidates = view.rows(&tools[..place]);
                let right = candidates.iter().position(|(tool, _)| *tool == next);
                let rows = candidates.into_iter().map(|(_, row)| row).collect();
                // A tool that is not among the candidates teaches the weights nothing, and the confidence
                // that its prediction was wrong.
                let weight = f64::from(u8::from(right.is_some()));
                let right = right.unwrap_or(MISSED);
                choices.push((
                    held_out.fold,
                    Choice {
                        rows,
                        right,
                        weight,
                    },
                ));
            }
        }
        choices
    }
}

impl Observations {
    fn answer(&mut self, run: usize, held_out: &HeldOut<'_>, decoded: &Decoded) {
        let fold = held_out.fold;
        let truth = sorted(&held_out.encoded.tools);
        let yes = sorted(&decoded.tools) == truth;
        self.exact.push(Answer {
            fold,
            run,
            row: decoded.evidence,
            yes,
        });
        let called = |tasks: &[usize]| {
            contains(
                &truth,
                &sorted(
                    &tasks
                        .iter()
                        .map(|task| decoded.tools[*task])
                        .collect::<Vec<_>>(),
                ),
            )
        };
        for subset in &decoded.subsets {
            let yes = called(&subset.tasks);
            self.ahead.push(Answer {
                fold,
                run,
                row: subset.evidence,
                yes,
            });
        }
        for (task, share) in decoded.shares.iter().enumerate() {
            // The second call of a tool is right if the run calls it twice.
            let same = (0..=task).filter(|other| decoded.tools[*other] == decoded.tools[task]);
            let yes = called(&same.collect::<Vec<_>>());
            self.task.push(Answer {
                fold,
                run,
                row: [1.0, logit(*share)],
                yes,
            });
        }
    }
}

/// The choice among plans; the right one has most in common with the run.
fn plan_choice(found: &[Candidate], held_out: &HeldOut<'_>) -> Option<Choice<PLAN_FEATURES>> {
    let truth = sorted(&held_out.encoded.tools);
    let value = |at: &usize| overlap(&found[*at].bag, &truth);
    let right = (0..found.len()).max_by(|a, b| {
        value(a)
            .total_cmp(&value(b))
            .then(found[*a].row[0].total_cmp(&found[*b].row[0]))
            .then(b.cmp(a))
    })?;
    let rows = found.iter().map(|candidate| candidate.row).collect();
    (value(&right) > 0.0).then_some(Choice {
        rows,
        right,
        weight: 1.0,
    })
}

/// Weights from all choices, and for each fold those from others.
fn cross_fit_choices<const N: usize>(
    choices: &[(usize, Choice<N>)],
    middle: &[f64; N],
    folds: usize,
) -> ([f64; N], Vec<[f64; N]>) {
    let prior = Prior {
        middle,
        strength: STRENGTH,
    };
    let all = fit_choices(choices.iter().map(|(_, choice)| choice), &prior, middle);
    let count = if folds == FOLDS { WEIGHT_GROUPS } else { folds };
    let groups: Vec<[f64; N]> = (0..count)
        .map(|held| {
            let others = choices.iter().filter(|(fold, _)| fold % count != held);
            fit_choices(others.map(|(_, choice)| choice), &prior, &all)
        })
        .collect();
    (all, (0..folds).map(|fold| groups[fold % count]).collect())
}

/// The likeliest candidate of each choice that is not an end, and whether it was right.
fn top_choices(
    choices: &[(usize, Choice<FEATURES>)],
    by_fold: &[[f64; FEATURES]],
) -> Vec<Answer<2>> {
    let steps = choices
        .iter()
        .filter(|(_, choice)| choice.right + 1 != choice.rows.len());
    steps
        .filter_map(|(fold, choice)| {
            let rows = &choice.rows[..choice.rows.len() - 1];
            let shares = softmax(&by_fold[*fold], rows);
            let best =
                (0..rows.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]).then(b.cmp(a)))?;
            let row = [1.0, logit(shares[best])];
            Some(Answer {
                fold: *fold,
                run: 0,
                row,
                yes: best == choice.right,
            })
        })
        .collect()
}

pub(crate) fn logit(share: f64) -> f32 {
    let share = share.clamp(1e-4, 1.0 - 1e-4);
    (share / (1.0 - share)).ln() as f32
}

/// Fits a probability to all answers, and says for each what the answers of the other folds make of it.
fn cross_fit<const N: usize>(
    answers: &[Answer<N>],
    middle: &[f64; N],
    folds: usize,
) -> ([f64; N], Vec<(usize, Outcome)>) {
    let prior = Prior {
        middle,
        strength: CALIBRATION_STRENGTH,
    };
    let rows = |held: usize| -> Vec<([f32; N], bool)> {
        let others = answers.iter().filter(|answer| answer.fold != held);
        others.map(|answer| (answer.row, answer.yes)).collect()
    };
    let by_fold: Vec<[f64; N]> = (0..folds)
        .map(|held| fit_logistic(&rows(held), &prior))
        .collect();
    let outcomes = answers
        .iter()
        .map(|answer| {
            let confidence = logistic(dot(&by_fold[answer.fold], &answer.row));
            (
                answer.run,
                Outcome {
                    confidence,
                    right: answer.yes,
                },
            )
        })
        .collect();
    (fit_logistic(&rows(folds), &prior), outcomes)
}
