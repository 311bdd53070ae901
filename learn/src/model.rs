//! A model of tool use: made from tools and past runs, it predicts the next tool and suggests plans.

use crate::confidence::{Outcome, threshold};
use crate::features::IntentView;
use crate::history::{END, History};
use crate::plan::{candidates, decode};
use crate::prior::Parameters;
use crate::regression::{dot, logistic, softmax};
use crate::tool::{Episode, Tool};
use crate::toolbox::Toolbox;
use crate::training::{CrossValidation, Fit, SHARPNESS, logit};

/// The precision that suggestions of tier `act` have, at least.
pub const ACT_PRECISION: f64 = 0.95;
/// The precision that suggestions of tier `propose` have, at least.
pub const PROPOSE_PRECISION: f64 = 0.5;

/// A predicted next call.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTool {
    pub tool: String,
    pub probability: f64,
}

/// A suggested plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub tools: Vec<String>,
    /// Which task needs which: places in `tools`.
    pub edges: Vec<(usize, usize)>,
    /// The probability that a run calls exactly these tools.
    pub confidence: f64,
    /// The probability of each task that a run calls it.
    pub task_confidence: Vec<f64>,
    /// The tasks that are so sure that they may run ahead, if they only read: places in `tools`.
    pub ahead: Vec<usize>,
    pub tier: Tier,
}

/// What a suggestion is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Tools that may help.
    List,
    /// A plan to look at.
    Propose,
    /// A plan whose reads may run ahead.
    Act,
}

/// The model.
pub struct Model {
    toolbox: Toolbox,
    history: History,
    fit: Fit,
    act: Option<f64>,
}

impl Model {
    /// Fits a model to past runs; without any, it knows what the tools say about themselves.
    #[must_use]
    pub fn new(tools: &[Tool], episodes: &[Episode], prior: &Parameters) -> Self {
        let toolbox = Toolbox::new(tools, episodes);
        let encoded: Vec<_> = episodes
            .iter()
            .map(|episode| toolbox.encode(episode))
            .collect();
        let fit = CrossValidation::new(&toolbox, episodes, &encoded).fit(prior);
        let history = History::new(&toolbox, encoded);
        Self {
            act: threshold(&fit.ahead, ACT_PRECISION),
            toolbox,
            history,
            fit,
        }
    }

    /// The likeliest next tools of a run that has made the calls `done`, best first.
    #[must_use]
    pub fn next(&self, intent: &str, done: &[&str], limit: usize) -> Vec<NextTool> {
        let view = IntentView::new(&self.toolbox, &self.history, intent, SHARPNESS);
        let done: Vec<u32> = done
            .iter()
            .filter_map(|tool| self.toolbox.number(tool))
            .collect();
        self.next_of(&view, &done, limit)
    }

    fn next_of(&self, view: &IntentView<'_>, done: &[u32], limit: usize) -> Vec<NextTool> {
        let mut candidates = view.rows(done);
        candidates.retain(|(tool, _)| *tool != END);
        let rows: Vec<_> = candidates.iter().map(|(_, row)| *row).collect();
        let shares = softmax(&self.fit.parameters.next, &rows);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by(|a, b| shares[*b].total_cmp(&shares[*a]).then(a.cmp(b)));
        let step = &self.fit.parameters.step;
        order
            .into_iter()
            .take(limit)
            .map(|at| NextTool {
                tool: self.toolbox.tools[candidates[at].0 as usize].id.clone(),
                probability: logistic(dot(step, &[1.0, logit(shares[at])])),
            })
            .collect()
    }

    /// The plan that fits an intent best; `None` if there is no tool.
    #[must_use]
    pub fn suggest(&self, intent: &str) -> Option<Plan> {
        let view = IntentView::new(&self.toolbox, &self.history, intent, SHARPNESS);
        let fitted = &self.fit.parameters;
        let decoded = decode(&view, &candidates(&view, &fitted.next), &fitted.plan)?;
        let task_confidence: Vec<f64> = decoded
            .shares
            .iter()
            .map(|share| logistic(dot(&fitted.task, &[1.0, logit(*share)])))
            .collect();
        let mut ahead = Vec::new();
        for subset in &decoded.subsets {
            let confidence = logistic(dot(&fitted.ahead, &subset.evidence));
            if self.act.is_none_or(|least| confidence < least) {
                break;
            }
            ahead.clone_from(&subset.tasks);
        }
        ahead.sort_unstable();
        let expected = task_confidence.iter().sum::<f64>() / task_confidence.len().max(1) as f64;
        let tier = if !ahead.is_empty() {
            Tier::Act
        } else if expected >= PROPOSE_PRECISION {
            Tier::Propose
        } else {
            Tier::List
        };
        let id = |tool: &u32| self.toolbox.tools[*tool as usize].id.clone();
        Some(Plan {
            tools: decoded.tools.iter().map(id).collect(),
            edges: decoded.edges,
            confidence: logistic(dot(&fitted.exact, &decoded.evidence)),
            task_confidence,
            ahead,
            tier,
        })
    }

    /// The held-out predictions of plans by which the confidence was calibrated.
    #[must_use]
    pub fn held_out_plans(&self) -> &[Outcome] {
        &self.fit.exact
    }

    /// The held-out predictions of next tools.
    #[must_use]
    pub fn held_out_steps(&self) -> &[Outcome] {
        &self.fit.steps
    }
}
