//! The prior from several sets: what weighs how much for tools in general.

use crate::prior::Parameters;
use crate::regression::{Choice, Prior, fit_choices, fit_logistic};
use crate::toolbox::Toolbox;
use crate::training::{Answer, CrossValidation, Observations};

use super::metrics::split;
use super::set::SampleSet;

/// How many choices a set counts as, however large it is.
const WORTH: f64 = 300.0;
/// The strength of the prior of the prior.
const STRENGTH: f64 = 2.0;

/// Fits the prior to the training parts of sets, each of which counts the same.
///
/// Confidence depends on the weights of the model, so that the fit is repeated with its own result.
#[must_use]
pub fn fit_prior(sets: &[&SampleSet], rounds: usize) -> Parameters {
    let mut prior = Parameters::neutral();
    let trainings: Vec<_> = sets.iter().map(|set| split(set, 0).0).collect();
    for _ in 0..rounds {
        let observed: Vec<Observations> = sets
            .iter()
            .zip(&trainings)
            .map(|(set, training)| {
                let toolbox = Toolbox::new(&set.tools, training);
                let encoded: Vec<_> = training
                    .iter()
                    .map(|episode| toolbox.encode(episode))
                    .collect();
                CrossValidation::new(&toolbox, training, &encoded)
                    .observe(&prior)
                    .0
            })
            .collect();
        let neutral = Parameters::neutral();
        prior = Parameters {
            next: pooled_choices(observed.iter().map(|seen| &seen.next), &neutral.next),
            plan: pooled_choices(observed.iter().map(|seen| &seen.plan), &neutral.plan),
            step: pooled(observed.iter().map(|seen| &seen.step), &neutral.step),
            task: pooled(observed.iter().map(|seen| &seen.task), &neutral.task),
            exact: pooled(observed.iter().map(|seen| &seen.exact), &neutral.exact),
            ahead: pooled(observed.iter().map(|seen| &seen.ahead), &neutral.ahead),
        };
    }
    prior
}

fn pooled_choices<'a, const N: usize>(
    sets: impl Iterator<Item = &'a Vec<(usize, Choice<N>)>>,
    middle: &[f64; N],
) -> [f64; N] {
    let mut all = Vec::new();
    for set in sets {
        let weight = WORTH / set.len().max(1) as f64;
        // Every third choice of a large set is enough, and quick.
        let step = (set.len() / 1500).max(1);
        for (_, choice) in set.iter().step_by(step) {
            let weight = weight * step as f64 * choice.weight;
            all.push(Choice {
                rows: choice.rows.clone(),
                right: choice.right,
                weight,
            });
        }
    }
    let prior = Prior {
        middle,
        strength: STRENGTH,
    };
    fit_choices(all.iter(), &prior, middle)
}

fn pooled<'a, const N: usize>(
    sets: impl Iterator<Item = &'a Vec<Answer<N>>>,
    middle: &[f64; N],
) -> [f64; N] {
    let mut all = Vec::new();
    for set in sets {
        let step = set.len().div_ceil(WORTH as usize).max(1);
        all.extend(
            set.iter()
                .step_by(step)
                .map(|answer| (answer.row, answer.yes)),
        );
    }
    fit_logistic(
        &all,
        &Prior {
            middle,
            strength: STRENGTH,
        },
    )
}
