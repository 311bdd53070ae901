//! Log-linear models with a prior: a choice among candidates, and a yes or no.
//!
//! Both are fitted by Newton's method with step halving; the objective is convex, so that the start only
//! decides how long it takes.

/// Newton steps at most; six are usual.
const MAX_STEPS: usize = 25;
/// The change of the objective below which a fit has ended.
const TOLERANCE: f64 = 1e-6;

/// A choice among candidates, of which one was right.
pub(crate) struct Choice<const N: usize> {
    pub rows: Vec<[f32; N]>,
    pub right: usize,
    /// How much the choice counts.
    pub weight: f64,
}

/// The scores of rows as probabilities.
pub(crate) fn softmax<const N: usize>(weights: &[f64; N], rows: &[[f32; N]]) -> Vec<f64> {
    let mut scores: Vec<f64> = rows.iter().map(|row| dot(weights, row)).collect();
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in &mut scores {
        *score = (*score - best).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
    scores
}

pub(crate) fn dot<const N: usize>(weights: &[f64; N], row: &[f32; N]) -> f64 {
    weights
        .iter()
        .zip(row)
        .map(|(weight, value)| weight * f64::from(*value))
        .sum()
}

/// The probability of yes.
pub(crate) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// A normal prior of the weights: its middle, and how many observations it is worth.
pub(crate) struct Prior<'a, const N: usize> {
    pub middle: &'a [f64; N],
    pub strength: f64,
}

/// The most likely weights of a choice.
pub(crate) fn fit_choices<'a, const N: usize>(
    choices: impl Iterator<Item = &'a Choice<N>>,
    prior: &Prior<'_, N>,
    start: &[f64; N],
) -> [f64; N] {
    let choices: Vec<&Choice<N>> = choices.filter(|choice| choice.weight > 0.0).collect();
    newton(prior, start, |weights, derivatives| {
        let mut loss = 0.0;
        for choice in &choices {
            let shares = softmax(weights, &choice.rows);
            loss -= choice.weight * shares[choice.right].max(1e-12).ln();
            if let Some((gradient, hessian)) = &mut *derivatives {
                let mut mean = [0.0_f64; N];
                for (share, row) in shares.iter().zip(&choice.rows) {
                    for (sum, value) in mean.iter_mut().zip(row) {
                        *sum += share * f64::from(*value);
                    }
                }
                for (i, value) in choice.rows[choice.right].iter().enumerate() {
                    gradient[i] += choice.weight * (mean[i] - f64::from(*value));
                }
                for (share, row) in shares.iter().zip(&choice.rows) {
                    if *share < 1e-4 {
                        continue;
                    }
                    for i in 0..N {
                        let left = choice.weight * share * (f64::from(row[i]) - mean[i]);
                        if left == 0.0 {
                            continue;
                        }
                        for j in 0..=i {
                            hessian[i][j] += left * (f64::from(row[j]) - mean[j]);
                        }
                    }
                }
            }
        }
        loss
    })
}

/// The most likely weights of a yes or no.
pub(crate) fn fit_logistic<const N: usize>(
    rows: &[([f32; N], bool)],
    prior: &Prior<'_, N>,
) -> [f64; N] {
    newton(prior, prior.middle, |weights, derivatives| {
        let mut loss = 0.0;
        for (row, yes) in rows {
            let share = logistic(dot(weights, row));
            loss -= if *yes { share } else { 1.0 - share }.max(1e-12).ln();
            if let Some((gradient, hessian)) = &mut *derivatives {
                let error = share - f64::from(u8::from(*yes));
                for i in 0..N {
                    gradient[i] += error * f64::from(row[i]);
                    let left = share * (1.0 - share) * f64::from(row[i]);
                    for j in 0..=i {
                        hessian[i][j] += left * f64::from(row[j]);
                    }
                }
            }
        }
        loss
    })
}

type Derivatives<const N: usize> = ([f64; N], Box<[[f64; N]; N]>);

fn newton<const N: usize>(
    prior: &Prior<'_, N>,
    start: &[f64; N],
    evaluate: impl Fn(&[f64; N], &mut Option<Derivatives<N>>) -> f64,
) -> [f64; N] {
    let penalty = |weights: &[f64; N]| {
        let squares = weights
            .iter()
            .zip(prior.middle)
            .map(|(w, m)| (w - m) * (w - m));
        prior.strength * squares.sum::<f64>() / 2.0
    };
    let mut weights = *start;
    let mut value = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let mut derivatives = Some(([0.0; N], Box::new([[0.0; N]; N])));
        let now = evaluate(&weights, &mut derivatives) + penalty(&weights);
        let Some((mut gradient, mut hessian)) = derivatives else {
            break;
        };
        for i in 0..N {
            gradient[i] += prior.strength * (weights[i] - prior.middle[i]);
            hessian[i][i] += prior.strength + 1e-9;
        }
        if value - now < TOLERANCE * (1.0 + now.abs()) && value.is_finite() {
            break;
        }
        value = now;
        let step = solve(&mut hessian, gradient);
        let mut size = 1.0;
        let mut moved = false;
        for _ in 0..12 {
            let mut next = weights;
            for (weight, by) in next.iter_mut().zip(&step) {
                *weight -= size * by;
            }
            if evaluate(&next, &mut None) + penalty(&next) < value {
                weights = next;
                moved = true;
                break;
            }
            size /= 2.0;
        }
        if !moved {
            break;
        }
    }
    weights
}

/// Solves `matrix · x = right` for a positive definite matrix, of which the lower half is given (Cholesky).
fn solve<const N: usize>(matrix: &mut [[f64; N]; N], right: [f64; N]) -> [f64; N] {
    for i in 0..N {
        for j in 0..=i {
            let sum: f64 = matrix[i][j] - (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum::<f64>();
            matrix[i][j] = if i == j {
                sum.max(1e-12).sqrt()
            } else {
                sum / matrix[j][j]
            };
        }
    }
    let mut x = right;
    for i in 0..N {
        let sum: f64 = (0..i).map(|k| matrix[i][k] * x[k]).sum();
        x[i] = (x[i] - sum) / matrix[i][i];
    }
    for i in (0..N).rev() {
        let sum: f64 = (i + 1..N).map(|k| matrix[k][i] * x[k]).sum();
        x[i] = (x[i] - sum) / matrix[i][i];
    }
    x
}
